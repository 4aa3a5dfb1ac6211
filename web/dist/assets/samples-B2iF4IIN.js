var e=[`curl`,`php`,`python`,`node`,`java`,`go`],t={curl:`curl`,php:`PHP`,python:`Python`,node:`Node.js`,java:`Java`,go:`Go`},n={curl:i,php:a,python:o,node:s,java:c,go:l};function r(e,{baseUrl:t,endpoint:r,values:i}){return n[e]({url:`${t}${r.path}`,values:i})}function i({url:e,values:t}){return[`curl -s ${u(e)} \\`,`  -H 'Content-Type: application/json' \\`,`  -d ${u(JSON.stringify(t,null,2))}`].join(`
`)}function a({url:e,values:t}){return`<?php
$body = ${y(t,``)};
$request = curl_init(${d(e)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode($body, JSON_UNESCAPED_UNICODE),
]);
$answer = json_decode(curl_exec($request), true);
print_r($answer);`}function o({url:e,values:t}){return`import json
import urllib.error
import urllib.request

body = ${b(t,``)}
request = urllib.request.Request(
    ${f(e)},
    data=json.dumps(body).encode("utf-8"),
    headers={"Content-Type": "application/json"},
)
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
except urllib.error.HTTPError as error:
    answer = json.load(error)
print(json.dumps(answer, ensure_ascii=False))`}function s({url:e,values:t}){return`const response = await fetch(${p(e)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(${x(t,`  `)}),
  signal: AbortSignal.timeout(30_000),
})
const answer = await response.json()
console.log(JSON.stringify(answer))`}function c({url:e,values:t}){return`// JDK 11+. UTF-8: java -Dfile.encoding=UTF-8 Sample.java
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Sample {
    public static void main(String[] args) throws Exception {
        String body = ${h(JSON.stringify(t))};
        HttpRequest request = HttpRequest.newBuilder(URI.create(${m(e)}))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response =
            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.body());
    }
}`}function l({url:e,values:t}){return`package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func main() {
	body := ${m(JSON.stringify(t))}
	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Post(${m(e)}, "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
}`}function u(e){return`'${e.replaceAll(`'`,`'\\''`)}'`}function d(e){return`'${e.replaceAll(`\\`,`\\\\`).replaceAll(`'`,`\\'`)}'`}function f(e){return m(e)}function p(e){return`'${m(e).slice(1,-1).replaceAll(`\\"`,`"`).replaceAll(`'`,`\\'`)}'`}function m(e){return JSON.stringify(e.toWellFormed()).replaceAll(/[\u007f-\u009f\u2028\u2029]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,`0`)}`)}function h(e){return e.split(/(?<=,)(?=")/).map(e=>m(e)).join(`
            + `)}var g={text:d,yes:`true`,no:`false`,none:`null`,list:[`[`,`]`],map:[`[`,`]`],key:e=>`${d(e)} => `,indent:`    `},_={text:f,yes:`True`,no:`False`,none:`None`,list:[`[`,`]`],map:[`{`,`}`],key:e=>`${f(e)}: `,indent:`    `},v={text:p,yes:`true`,no:`false`,none:`null`,list:[`[`,`]`],map:[`{`,`}`],key:e=>/^[A-Za-z_]\w*$/.test(e)&&e!==`__proto__`?`${e}: `:`[${p(e)}]: `,indent:`  `},y=(e,t)=>S(e,g,t),b=(e,t)=>S(e,_,t),x=(e,t)=>S(e,v,t);function S(e,t,n){if(typeof e==`string`)return t.text(e);if(typeof e==`number`)return String(e);if(typeof e==`boolean`)return e?t.yes:t.no;if(Array.isArray(e))return`${t.list[0]}${e.map(e=>S(e,t,n)).join(`, `)}${t.list[1]}`;if(typeof e!=`object`||!e)return t.none;let r=Object.entries(e);if(r.length===0)return`${t.map[0]}${t.map[1]}`;let i=n+t.indent,a=r.map(([e,n])=>`${i}${t.key(e)}${S(n,t,i)},`);return`${t.map[0]}\n${a.join(`
`)}\n${n}${t.map[1]}`}export{u as i,t as n,e as r,r as t};
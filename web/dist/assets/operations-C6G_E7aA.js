import{S as e}from"./common-BZDjJSdo.js";import{t}from"./domain-check-CXCkWvch.js";import{r as n}from"./identity-esv6eDxg.js";import{t as r}from"./sms-CVUtzG3x.js";var i=[`curl`,`php`,`python`,`node`,`java`,`go`],a={curl:`curl`,php:`PHP`,python:`Python`,node:`Node.js`,java:`Java`,go:`Go`},o={curl:c,php:l,python:u,node:d,java:f,go:p};function s(e,{baseUrl:t,endpoint:n,values:r}){return o[e]({url:`${t}${n.path}`,values:r})}function c({url:e,values:t}){return[`curl -s ${m(e)} \\`,`  -H 'Content-Type: application/json' \\`,`  -d ${m(JSON.stringify(t,null,2))}`].join(`
`)}function l({url:e,values:t}){return`<?php
$body = ${C(t,``)};
$request = curl_init(${h(e)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode($body, JSON_UNESCAPED_UNICODE),
]);
$answer = json_decode(curl_exec($request), true);
print_r($answer);`}function u({url:e,values:t}){return`import json
import urllib.error
import urllib.request

body = ${w(t,``)}
request = urllib.request.Request(
    ${g(e)},
    data=json.dumps(body).encode("utf-8"),
    headers={"Content-Type": "application/json"},
)
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
except urllib.error.HTTPError as error:
    answer = json.load(error)
print(json.dumps(answer, ensure_ascii=False))`}function d({url:e,values:t}){return`const response = await fetch(${_(e)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(${T(t,`  `)}),
  signal: AbortSignal.timeout(30_000),
})
const answer = await response.json()
console.log(JSON.stringify(answer))`}function f({url:e,values:t}){return`// JDK 11+. UTF-8: java -Dfile.encoding=UTF-8 Sample.java
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Sample {
    public static void main(String[] args) throws Exception {
        String body = ${y(JSON.stringify(t))};
        HttpRequest request = HttpRequest.newBuilder(URI.create(${v(e)}))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response =
            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.body());
    }
}`}function p({url:e,values:t}){return`package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func main() {
	body := ${v(JSON.stringify(t))}
	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Post(${v(e)}, "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
}`}function m(e){return`'${e.replaceAll(`'`,`'\\''`)}'`}function h(e){return`'${e.replaceAll(`\\`,`\\\\`).replaceAll(`'`,`\\'`)}'`}function g(e){return v(e)}function _(e){return`'${v(e).slice(1,-1).replaceAll(`\\"`,`"`).replaceAll(`'`,`\\'`)}'`}function v(e){return JSON.stringify(e.toWellFormed()).replaceAll(/[\u007f-\u009f\u2028\u2029]/g,e=>`\\u${e.charCodeAt(0).toString(16).padStart(4,`0`)}`)}function y(e){return e.split(/(?<=,)(?=")/).map(e=>v(e)).join(`
            + `)}var b={text:h,yes:`true`,no:`false`,none:`null`,list:[`[`,`]`],map:[`[`,`]`],key:e=>`${h(e)} => `,indent:`    `},x={text:g,yes:`True`,no:`False`,none:`None`,list:[`[`,`]`],map:[`{`,`}`],key:e=>`${g(e)}: `,indent:`    `},S={text:_,yes:`true`,no:`false`,none:`null`,list:[`[`,`]`],map:[`{`,`}`],key:e=>/^[A-Za-z_]\w*$/.test(e)&&e!==`__proto__`?`${e}: `:`[${_(e)}]: `,indent:`  `},C=(e,t)=>E(e,b,t),w=(e,t)=>E(e,x,t),T=(e,t)=>E(e,S,t);function E(e,t,n){if(typeof e==`string`)return t.text(e);if(typeof e==`number`)return String(e);if(typeof e==`boolean`)return e?t.yes:t.no;if(Array.isArray(e))return`${t.list[0]}${e.map(e=>E(e,t,n)).join(`, `)}${t.list[1]}`;if(typeof e!=`object`||!e)return t.none;let r=Object.entries(e);if(r.length===0)return`${t.map[0]}${t.map[1]}`;let i=n+t.indent,a=r.map(([e,n])=>`${i}${t.key(e)}${E(n,t,i)},`);return`${t.map[0]}\n${a.join(`
`)}\n${n}${t.map[1]}`}var D=[e,r,n,t],O=D.flatMap(e=>Object.entries(e.operations).map(([t,n])=>({id:`${e.name}.${t}`,endpoint:e,operation:n}))),k={"sms.send":[`template_params`],"sms.logs":[`start_date`],"shortlink.get":[`link_id`]};function A({id:e,endpoint:t,operation:n},r){let i={};for(let e of Object.keys(t.common))i[e]=e===`username`?r.username:e===`api_key`?r.key:n.actions[0];for(let[t,r]of Object.entries(n.parameters))(r.required||k[e]?.includes(t))&&(i[t]=r.example);return i}function j(e){return{template_code:e.code,template_params:Object.fromEntries(e.variables.map(e=>[e,`1234`]))}}function M(e,t,n){let r={username:n,api_key:`<API_KEY>`,action:(t===null?void 0:e.operations[t]?.actions)?.[0]};return Object.fromEntries(Object.keys(e.common).flatMap(e=>{let t=r[e];return t===void 0?[]:[[e,t]]}))}export{j as a,i as c,O as i,m as l,D as n,s as o,A as r,a as s,M as t};
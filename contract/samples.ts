// Code samples of a call in six languages, for the reference and the console. A test runs them.
import type { Endpoint } from './endpoint.ts'

export const sampleLanguages = ['curl', 'php', 'python', 'node', 'java', 'go'] as const

export type SampleLanguage = (typeof sampleLanguages)[number]

export const sampleLanguageNames: Readonly<Record<SampleLanguage, string>> = {
  curl: 'curl',
  php: 'PHP',
  python: 'Python',
  node: 'Node.js',
  java: 'Java',
  go: 'Go',
}

export interface SampleCall {
  /** {base_url} without a trailing slash. */
  readonly baseUrl: string
  readonly endpoint: Pick<Endpoint, 'path'>
  /** Credentials, action and parameters. */
  readonly values: Readonly<Record<string, unknown>>
}

interface SampleRequest {
  readonly url: string
  readonly values: Readonly<Record<string, unknown>>
}

const writers: Readonly<Record<SampleLanguage, (request: SampleRequest) => string>> = {
  curl,
  php,
  python,
  node,
  java,
  go,
}

export function sample(language: SampleLanguage, { baseUrl, endpoint, values }: SampleCall): string {
  return writers[language]({ url: `${baseUrl}${endpoint.path}`, values })
}

function curl({ url, values }: SampleRequest): string {
  return [
    `curl -s ${shellText(url)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellText(JSON.stringify(values, null, 2))}`,
  ].join('\n')
}

function php({ url, values }: SampleRequest): string {
  return `<?php
$body = ${phpValue(values, '')};
$request = curl_init(${phpText(url)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode($body, JSON_UNESCAPED_UNICODE),
]);
$answer = json_decode(curl_exec($request), true);
print_r($answer);`
}

function python({ url, values }: SampleRequest): string {
  return `import json
import urllib.error
import urllib.request

body = ${pythonValue(values, '')}
request = urllib.request.Request(
    ${pythonText(url)},
    data=json.dumps(body).encode("utf-8"),
    headers={"Content-Type": "application/json"},
)
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
except urllib.error.HTTPError as error:
    answer = json.load(error)
print(json.dumps(answer, ensure_ascii=False))`
}

function node({ url, values }: SampleRequest): string {
  return `const response = await fetch(${scriptText(url)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(${scriptValue(values, '  ')}),
  signal: AbortSignal.timeout(30_000),
})
const answer = await response.json()
console.log(JSON.stringify(answer))`
}

function java({ url, values }: SampleRequest): string {
  return `// JDK 11+. UTF-8: java -Dfile.encoding=UTF-8 Sample.java
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Sample {
    public static void main(String[] args) throws Exception {
        String body = ${javaLines(JSON.stringify(values))};
        HttpRequest request = HttpRequest.newBuilder(URI.create(${quoted(url)}))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response =
            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.body());
    }
}`
}

function go({ url, values }: SampleRequest): string {
  return `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func main() {
	body := ${quoted(JSON.stringify(values))}
	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Post(${quoted(url)}, "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
}`
}

/** A quoted shell argument. */
export function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function phpText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** A JSON string without lone surrogates is also a Python string. */
function pythonText(text: string): string {
  return quoted(text)
}

function scriptText(text: string): string {
  const inner = quoted(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inner}'`
}

/** A double-quoted string for JSON, Python, Java and Go. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    // oxlint-disable-next-line no-control-regex -- it escapes control characters
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One literal per line, so that a long body stays readable. */
function javaLines(json: string): string {
  const parts = json.split(/(?<=,)(?=")/)
  return parts.map((part) => quoted(part)).join('\n            + ')
}

interface LiteralSyntax {
  readonly text: (text: string) => string
  readonly yes: string
  readonly no: string
  readonly none: string
  readonly list: readonly [string, string]
  readonly map: readonly [string, string]
  readonly key: (name: string) => string
  readonly indent: string
}

const phpLiterals: LiteralSyntax = {
  text: phpText,
  yes: 'true',
  no: 'false',
  none: 'null',
  list: ['[', ']'],
  map: ['[', ']'],
  key: (name) => `${phpText(name)} => `,
  indent: '    ',
}
const pythonLiterals: LiteralSyntax = {
  text: pythonText,
  yes: 'True',
  no: 'False',
  none: 'None',
  list: ['[', ']'],
  map: ['{', '}'],
  key: (name) => `${pythonText(name)}: `,
  indent: '    ',
}
const scriptLiterals: LiteralSyntax = {
  text: scriptText,
  yes: 'true',
  no: 'false',
  none: 'null',
  list: ['[', ']'],
  map: ['{', '}'],
  key: (name) =>
    /^[A-Za-z_]\w*$/.test(name) && name !== '__proto__' ? `${name}: ` : `[${scriptText(name)}]: `,
  indent: '  ',
}

const phpValue = (value: unknown, margin: string) => literal(value, phpLiterals, margin)
const pythonValue = (value: unknown, margin: string) => literal(value, pythonLiterals, margin)
const scriptValue = (value: unknown, margin: string) => literal(value, scriptLiterals, margin)

function literal(value: unknown, syntax: LiteralSyntax, margin: string): string {
  if (typeof value === 'string') return syntax.text(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? syntax.yes : syntax.no
  if (Array.isArray(value)) {
    return `${syntax.list[0]}${value.map((item) => literal(item, syntax, margin)).join(', ')}${syntax.list[1]}`
  }
  if (typeof value !== 'object' || value === null) return syntax.none
  const entries = Object.entries(value)
  if (entries.length === 0) return `${syntax.map[0]}${syntax.map[1]}`
  const inner = margin + syntax.indent
  const lines = entries.map(([name, one]) => `${inner}${syntax.key(name)}${literal(one, syntax, inner)},`)
  return `${syntax.map[0]}\n${lines.join('\n')}\n${margin}${syntax.map[1]}`
}

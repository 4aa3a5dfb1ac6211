// Code that makes one call, in six languages: an operation, its values and the address go in, a program to paste comes out.
// No I/O. The documents and the console show the same samples, and a test runs them.
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
  /** {base_url}, without a slash at the end. */
  readonly baseUrl: string
  readonly endpoint: Pick<Endpoint, 'path'>
  /** Everything that is sent: credentials, action, parameters. */
  readonly values: Readonly<Record<string, unknown>>
}

interface Request {
  readonly url: string
  readonly values: Readonly<Record<string, unknown>>
}

const writers: Readonly<Record<SampleLanguage, (request: Request) => string>> = {
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

function curl({ url, values }: Request): string {
  return [
    `curl -s ${shellText(url)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellText(JSON.stringify(values, null, 2))}`,
  ].join('\n')
}

function php({ url, values }: Request): string {
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

function python({ url, values }: Request): string {
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

function node({ url, values }: Request): string {
  return `const response = await fetch(${scriptText(url)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(${scriptValue(values, '  ')}),
  signal: AbortSignal.timeout(30_000),
})
const answer = await response.json()
console.log(JSON.stringify(answer))`
}

function java({ url, values }: Request): string {
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

function go({ url, values }: Request): string {
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

function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function phpText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** JSON's string is Python's too, as long as no half of a surrogate pair is in it. */
function pythonText(text: string): string {
  return quoted(text)
}

function scriptText(text: string): string {
  const inner = quoted(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inner}'`
}

/** A string in double quotes that JSON, Python, Java and Go all read alike. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One literal a line, so that a long body stays readable. */
function javaLines(json: string): string {
  const parts = json.split(/(?<=,)(?=")/)
  return parts.map((part) => quoted(part)).join('\n            + ')
}

interface Literals {
  readonly text: (text: string) => string
  readonly yes: string
  readonly no: string
  readonly none: string
  readonly list: readonly [string, string]
  readonly map: readonly [string, string]
  readonly key: (name: string) => string
  readonly indent: string
}

const phpLiterals: Literals = {
  text: phpText,
  yes: 'true',
  no: 'false',
  none: 'null',
  list: ['[', ']'],
  map: ['[', ']'],
  key: (name) => `${phpText(name)} => `,
  indent: '    ',
}
const pythonLiterals: Literals = {
  text: pythonText,
  yes: 'True',
  no: 'False',
  none: 'None',
  list: ['[', ']'],
  map: ['{', '}'],
  key: (name) => `${pythonText(name)}: `,
  indent: '    ',
}
const scriptLiterals: Literals = {
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

function literal(value: unknown, words: Literals, margin: string): string {
  if (typeof value === 'string') return words.text(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (Array.isArray(value)) {
    return `${words.list[0]}${value.map((item) => literal(item, words, margin)).join(', ')}${words.list[1]}`
  }
  if (typeof value !== 'object' || value === null) return words.none
  const entries = Object.entries(value)
  if (entries.length === 0) return `${words.map[0]}${words.map[1]}`
  const inner = margin + words.indent
  const lines = entries.map(([name, one]) => `${inner}${words.key(name)}${literal(one, words, inner)},`)
  return `${words.map[0]}\n${lines.join('\n')}\n${margin}${words.map[1]}`
}

// Code samples in six languages: standard libraries only, so that each runs as it stands.

export const sampleLanguages = [
  ['curl', 'curl'],
  ['php', 'PHP'],
  ['python', 'Python'],
  ['node', 'Node.js'],
  ['java', 'Java'],
  ['go', 'Go'],
] as const

export type SampleLanguage = (typeof sampleLanguages)[number][0]

export function isSampleLanguage(name: string): name is SampleLanguage {
  return sampleLanguages.some(([key]) => key === name)
}

type Body = Readonly<Record<string, unknown>>

export function sample(language: SampleLanguage, url: string, body: Body): string {
  return writers[language](url, body)
}

const writers: Readonly<Record<SampleLanguage, (url: string, body: Body) => string>> = {
  curl: (url, body) =>
    [
      `curl -sS ${shellText(url)} \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${shellText(JSON.stringify(body, null, 2))}`,
    ].join('\n'),

  php: (url, body) => `<?php
$ch = curl_init(${phpText(url)});
curl_setopt_array($ch, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 15,
    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode(${phpValue(body, 1)}, JSON_UNESCAPED_UNICODE),
]);
$answer = curl_exec($ch);
if ($answer === false) {
    exit(curl_error($ch));
}
print_r(json_decode($answer, true));
`,

  python: (url, body) => `import json
import urllib.error
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    data=json.dumps(${pythonValue(body, 1)}).encode(),
    headers={"Content-Type": "application/json"},
)
try:
    answer = urllib.request.urlopen(request, timeout=15)
except urllib.error.HTTPError as error:
    answer = error  # errors carry a JSON body too
print(json.load(answer))
`,

  node: (url, body) => `const response = await fetch(${scriptText(url)}, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(${indentBy(scriptValue(body), 2)}),
  signal: AbortSignal.timeout(15_000),
})
console.log(response.status, await response.json())
`,

  java: (url, body) => `import java.net.URI;
import java.net.http.*;
import java.time.Duration;

public class Sample {
    public static void main(String[] args) throws Exception {
        String body = """
${indentBy(`            ${JSON.stringify(body, null, 2).replaceAll('\\', '\\\\')}`, 12)}
            """;
        HttpRequest request = HttpRequest.newBuilder(URI.create(${JSON.stringify(url)}))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(15))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}
`,

  go: (url, body) => `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func main() {
	body := ${goText(JSON.stringify(body, null, 2))}
	client := &http.Client{Timeout: 15 * time.Second}
	response, err := client.Post(${JSON.stringify(url)}, "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(answer))
}
`,
}

/** A text for a POSIX shell; nothing in it is expanded. */
export function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function phpText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `\\'`)}'`
}

function scriptText(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", `\\'`)}'`
}

function goText(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``
}

function indentBy(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
}

function isMap(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function phpValue(value: unknown, depth: number): string {
  const pad = '    '.repeat(depth + 1)
  const end = `${'    '.repeat(depth)}]`
  if (Array.isArray(value)) return `[${value.map((item) => phpValue(item, depth)).join(', ')}]`
  if (isMap(value)) {
    const rows = Object.entries(value).map(
      ([key, item]) => `${pad}${phpText(key)} => ${phpValue(item, depth + 1)},\n`,
    )
    return `[\n${rows.join('')}${end}`
  }
  return typeof value === 'string' ? phpText(value) : String(value)
}

function pythonValue(value: unknown, depth: number): string {
  const pad = '    '.repeat(depth + 1)
  if (Array.isArray(value)) return `[${value.map((item) => pythonValue(item, depth)).join(', ')}]`
  if (isMap(value)) {
    const rows = Object.entries(value).map(
      ([key, item]) => `${pad}${JSON.stringify(key)}: ${pythonValue(item, depth + 1)},\n`,
    )
    return `{\n${rows.join('')}${'    '.repeat(depth)}}`
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return JSON.stringify(value)
}

function scriptValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(scriptValue).join(', ')}]`
  if (isMap(value)) {
    const rows = Object.entries(value).map(
      ([key, item]) => `  ${scriptKey(key)}: ${indentBy(scriptValue(item), 2)},\n`,
    )
    return `{\n${rows.join('')}}`
  }
  return typeof value === 'string' ? scriptText(value) : String(value)
}

function scriptKey(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : scriptText(key)
}

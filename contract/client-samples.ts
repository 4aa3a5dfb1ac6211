// The clients in sdk/: how each is installed, and the first call of its README. A test compares both with the READMEs.
interface ClientSample {
  readonly name: string
  readonly package: string
  /** The oldest version of the language. */
  readonly requires: string
  /** Commands for an empty folder. */
  readonly install: string
  /** The file that `code` is saved as. */
  readonly file: string
  readonly code: string
  readonly run: string
}

/** Replaced by the address of the service. */
export const sampleBaseUrl = 'https://api.example.com'

/** Replaced by the version of the service. */
export const sampleVersion = 'VERSION'

/** The version is part of the name, because package managers keep what they downloaded. */
export function clientArchive(folder: string, version: string): string {
  return `tollgate-${folder}-${version}.tar.gz`
}

const archive = (folder: string) => `${sampleBaseUrl}/docs/clients/${clientArchive(folder, sampleVersion)}`

/** By folder in sdk/. */
export const clientSamples: Readonly<Record<string, ClientSample>> = {
  php: {
    name: 'PHP',
    package: 'tollgate/sdk',
    requires: 'PHP 7.4',
    install: `curl -fsS ${archive('php')} | tar xz
echo '{}' > composer.json        # only in a new project
composer config repositories.tollgate path ./tollgate-php
composer require tollgate/sdk:@dev`,
    file: 'first.php',
    run: "TOLLGATE_API_KEY='<API_KEY>' php first.php",
    code: `<?php
require 'vendor/autoload.php';

$tollgate = new Tollgate\\Client('https://api.example.com', 'demo', getenv('TOLLGATE_API_KEY'));

$link = $tollgate->shortlink->generate([
    'target_url' => 'https://example.com/landing',
    'title' => '活动页',
]);
echo $link['a_url'];`,
  },
  python: {
    name: 'Python',
    package: 'tollgate',
    requires: 'Python 3.8',
    install: `python3 -m venv .venv
.venv/bin/pip install ${archive('python')}`,
    file: 'first.py',
    run: "TOLLGATE_API_KEY='<API_KEY>' .venv/bin/python first.py",
    code: `import os
from tollgate import Tollgate

tollgate = Tollgate("https://api.example.com", "demo", os.environ["TOLLGATE_API_KEY"])

link = tollgate.shortlink.generate(target_url="https://example.com/landing", title="活动页")
print(link["a_url"])`,
  },
  java: {
    name: 'Java',
    package: 'io.tollgate:tollgate-sdk',
    requires: 'Java 11',
    install: `curl -fsS ${archive('java')} | tar xz`,
    file: 'FirstCall.java',
    run: `javac -encoding UTF-8 -d out $(find tollgate-java/src/main -name '*.java') FirstCall.java
TOLLGATE_API_KEY='<API_KEY>' java -cp out FirstCall`,
    code: `import io.tollgate.Result;
import io.tollgate.Tollgate;
import java.util.Map;

public class FirstCall {
    public static void main(String[] args) {
        Tollgate tollgate = Tollgate.builder("https://api.example.com", "demo", System.getenv("TOLLGATE_API_KEY")).build();
        Result link = tollgate.shortLinks().generate(Map.of("target_url", "https://example.com/landing", "title", "活动页"));
        System.out.println(link.getString("a_url"));
    }
}`,
  },
  go: {
    name: 'Go',
    package: 'tollgate/sdk',
    requires: 'Go 1.18',
    install: `curl -fsS ${archive('go')} | tar xz
go mod init example.com/first        # only in a new project
go mod edit -require tollgate/sdk@v${sampleVersion} -replace tollgate/sdk=./tollgate-go`,
    file: 'main.go',
    run: "TOLLGATE_API_KEY='<API_KEY>' go run .",
    code: `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	tollgate "tollgate/sdk"
)

func main() {
	client, err := tollgate.New(tollgate.Options{
		BaseURL:  "https://api.example.com",
		Username: "demo",
		APIKey:   os.Getenv("TOLLGATE_API_KEY"),
	})
	if err != nil {
		log.Fatal(err)
	}
	link, err := client.ShortLinks.Generate(context.Background(), tollgate.LinkParameters{
		TargetURL: "https://example.com/landing",
		Title:     "活动页",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(link.AURL)
}`,
  },
  node: {
    name: 'Node.js',
    package: '@tollgate/sdk',
    requires: 'Node.js 18',
    install: `npm install ${archive('node')}`,
    file: 'first.mjs',
    run: "TOLLGATE_API_KEY='<API_KEY>' node first.mjs",
    code: `import { Tollgate } from '@tollgate/sdk'

const tollgate = new Tollgate({
  baseUrl: 'https://api.example.com',
  username: 'demo',
  apiKey: process.env.TOLLGATE_API_KEY,
})

const link = await tollgate.shortlink.generate({
  target_url: 'https://example.com/landing',
  title: '活动页',
})
console.log(link.a_url)`,
  },
}

// The clients in sdk/: their packages, and the first call of each README. A test compares both.
interface ClientSample {
  readonly name: string
  readonly package: string
  /** The oldest version of the language. */
  readonly requires: string
  readonly code: string
}

/** Replaced by the address of the service. */
export const sampleBaseUrl = 'https://api.example.com'

/** By folder in sdk/. */
export const clientSamples: Readonly<Record<string, ClientSample>> = {
  php: {
    name: 'PHP',
    package: 'tollgate/sdk',
    requires: 'PHP 7.4, curl',
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
    package: 'github.com/tollgate/tollgate-go',
    requires: 'Go 1.18',
    code: `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	tollgate "github.com/tollgate/tollgate-go"
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

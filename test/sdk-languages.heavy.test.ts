// What the clients of PHP, Python, Java and Go do with values and errors of their language. Nothing is sent: no server listens.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { root } from './support/root.ts'
import { freePort } from './support/service.ts'

const run = promisify(execFile)

interface Language {
  readonly probe: readonly [string, ...string[]]
  /** Runs the program in a folder of its own and returns what it prints. */
  readonly print: (folder: string, program: string, env: NodeJS.ProcessEnv) => Promise<string>
}

const php: Language = {
  probe: ['php', '-r', "exit(extension_loaded('curl') ? 0 : 1);"],
  async print(folder, program, env) {
    const file = join(folder, 'program.php')
    await writeFile(file, `<?php require '${join(root, 'sdk/php/src/autoload.php')}';\n${program}`)
    // The default of PHP without a php.ini.
    return (await run('php', ['-d', 'zend.exception_ignore_args=0', file], { env })).stdout
  },
}

const python: Language = {
  probe: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 8))'],
  async print(folder, program, env) {
    const file = join(folder, 'program.py')
    await writeFile(file, program)
    const path = join(root, 'sdk/python/src')
    return (await run('python3', ['-B', file], { env: { ...env, PYTHONPATH: path } })).stdout
  },
}

const java: Language = {
  probe: ['javac', '-version'],
  async print(folder, program, env) {
    const file = join(folder, 'Program.java')
    await writeFile(
      file,
      `import io.tollgate.*;
import java.util.*;
import java.net.http.HttpClient;

public class Program {
    public static void main(String[] args) {
${program}
    }
}`,
    )
    const sources = globSync(join(root, 'sdk/java/src/main/**/*.java'))
    await run('javac', ['--release', '11', '-encoding', 'UTF-8', '-d', folder, ...sources, file])
    return (await run('java', ['-cp', folder, 'Program'], { env })).stdout
  },
}

const go: Language = {
  probe: ['go', 'version'],
  async print(folder, program, env) {
    const sdk = join(root, 'sdk/go')
    await writeFile(
      join(folder, 'go.mod'),
      `module example.com/a

go 1.18

require tollgate/sdk v1.0.0

replace tollgate/sdk => ${sdk}
`,
    )
    await mkdir(join(folder, 'cache'))
    await writeFile(join(folder, 'main.go'), program)
    // Nothing is downloaded: the client uses the standard library only.
    const offline = {
      GOFLAGS: '-mod=mod',
      GOPROXY: 'off',
      GOTOOLCHAIN: 'local',
      GOCACHE: join(folder, 'cache'),
    }
    return (await run('go', ['run', '.'], { cwd: folder, env: { ...env, ...offline } })).stdout
  },
}

/** The program reads BASE_URL, where nothing listens. */
async function print(t: TestContext, language: Language, program: string): Promise<string | undefined> {
  const isInstalled = await run(language.probe[0], language.probe.slice(1)).then(
    () => true,
    () => false,
  )
  if (!isInstalled) {
    t.skip(`${language.probe[0]} is not installed`)
    return undefined
  }
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-language-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const env = { ...process.env, BASE_URL: `http://127.0.0.1:${await freePort()}` }
  return await language.print(folder, program, env)
}

describe('clients of other languages', { concurrency: false }, () => {
  test('PHP: dumps of a client and exceptions have neither the key nor personal data', async (t) => {
    const shown = await print(
      t,
      php,
      `
$client = new Tollgate\\Client(getenv('BASE_URL'), 'demo', 'hidden-key-of-the-account', ['retries' => 0]);
var_dump($client);
print_r($client);
$calls = [
    fn () => $client->identity->verify(['name' => 'hidden name', 'idcard' => 'hidden number']),
    fn () => $client->identity->verify(['name' => 'hidden name', 'idcard' => "hidden number, not UTF-8 \\xff"]),
    fn () => $client->sms->send(['phone_number' => 'hidden number', 'template_code' => 'CODE']),
    fn () => $client->sms->sendBatch(['phone_numbers' => ['hidden number'], 'template_code' => 'CODE']),
    fn () => $client->sms->sendCode(['phone_number' => 'hidden number', 'template_code' => 'CODE']),
    fn () => $client->sms->checkCode(['phone_number' => 'hidden number', 'code' => 'hidden code']),
    fn () => $client->sms->logs(['phone_number' => 'hidden number']),
    fn () => $client->sms->replies(['phone_number' => 'hidden number']),
    fn () => $client->shortlink->generate(['password' => 'hidden password']),
    fn () => $client->shortlink->generateBatch(['links' => [['password' => 'hidden password']]]),
    fn () => $client->shortlink->update(['link_id' => 1, 'password' => 'hidden password']),
    fn () => new Tollgate\\Client('no address', 'demo', 'hidden-key-of-the-account'),
    fn () => Tollgate\\Webhook::verify('whsec_hidden', [], 'hidden body'),
];
foreach ($calls as $call) {
    try {
        $call();
    } catch (Throwable $error) {
        echo get_class($error), "\\n";
        if (PHP_VERSION_ID >= 80200) {
            echo $error, "\\n";
            print_r($error->getTrace());
        }
    }
}`,
    )
    if (shown === undefined) return
    assert.doesNotMatch(shown, /hidden/)
    assert.equal(shown.match(/^Tollgate\\ConnectionException$/gm)?.length, 10)
    assert.match(shown, /^JsonException$/m)
  })

  test('Python: an error can be sent to another process', async (t) => {
    const shown = await print(
      t,
      python,
      `
import pickle
from tollgate import TollgateApiError, TollgateTimeoutError

for error in (
    TollgateApiError("no credits", 403, 1004, 1.5, "request-1", "order-1"),
    TollgateTimeoutError("no response", None, "order-1"),
):
    copied = pickle.loads(pickle.dumps(error))
    print(type(copied) is type(error), str(copied) == str(error), vars(copied) == vars(error))`,
    )
    if (shown !== undefined) assert.equal(shown, 'True True True\n'.repeat(2))
  })

  test('Python: one URL in place of a list is refused, not checked letter by letter', async (t) => {
    const shown = await print(
      t,
      python,
      `
import os
from tollgate import Tollgate

tollgate = Tollgate(os.environ["BASE_URL"], "demo", "key", retries=0)
for urls in ("example.com", b"example.com", ["example.com"], {"example.com"}):
    try:
        tollgate.domains.check(urls)
    except Exception as error:
        print(type(error).__name__)`,
    )
    if (shown === undefined) return
    assert.equal(shown, 'TypeError\nTypeError\nTollgateConnectionError\nTollgateConnectionError\n')
  })

  test('Python: a webhook with absent or unreadable headers is not from the platform', async (t) => {
    const shown = await print(
      t,
      python,
      `
import base64, time
from tollgate import verify_webhook

secret = "whsec_" + base64.b64encode(bytes(32)).decode()
now = str(int(time.time()))
for values in ((None, None, None), ("\\udcff", now, "v1,a"), ("id", now, "\\udcff")):
    headers = dict(zip(("webhook-id", "webhook-timestamp", "webhook-signature"), values))
    print(verify_webhook(secret, headers, b"{}"))`,
    )
    if (shown !== undefined) assert.equal(shown, 'None\n'.repeat(3))
  })

  test('Java: a webhook with absent headers is not from the platform', async (t) => {
    const shown = await print(
      t,
      java,
      `
        String secret = "whsec_" + Base64.getEncoder().encodeToString(new byte[32]);
        for (String name : new String[] {"webhook-id", "webhook-timestamp", "webhook-signature", null}) {
            Map<String, String> headers = new HashMap<>();
            headers.put("webhook-timestamp", String.valueOf(System.currentTimeMillis() / 1000));
            headers.put(name, null);
            System.out.println(Webhook.verify(secret, headers, new byte[0]).isEmpty());
        }`,
    )
    if (shown !== undefined) assert.equal(shown, 'true\n'.repeat(4))
  })

  test('Java: arrays are sent as lists, an Optional as its value; a stream is refused', async (t) => {
    const shown = await print(
      t,
      java,
      `
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("urls", new String[] {"a", "b"});
        values.put("numbers", new int[][] {{1, 2}, {}});
        values.put("one", Optional.of(Map.of("x", 1)));
        values.put("none", Optional.empty());
        System.out.println(Json.write(values));
        try {
            Json.write(Map.of("urls", List.of("a").stream()));
        } catch (IllegalArgumentException error) {
            System.out.println("refused");
        }`,
    )
    if (shown === undefined) return
    assert.equal(shown, '{"urls":["a","b"],"numbers":[[1,2],[]],"one":{"x":1},"none":null}\nrefused\n')
  })

  test('Java: an HTTP client that follows redirects is refused', async (t) => {
    const shown = await print(
      t,
      java,
      `
        for (HttpClient.Redirect redirects : HttpClient.Redirect.values()) {
            HttpClient http = HttpClient.newBuilder().followRedirects(redirects).build();
            try {
                Tollgate.builder("http://127.0.0.1", "demo", "key").httpClient(http).build();
                System.out.println(redirects + " accepted");
            } catch (IllegalArgumentException error) {
                System.out.println(redirects + " refused");
            }
        }`,
    )
    if (shown !== undefined) assert.equal(shown, 'NEVER accepted\nALWAYS refused\nNORMAL refused\n')
  })

  test('Go: a call whose context ends has its idempotency key, and errors.Is finds the reason', async (t) => {
    const shown = await print(
      t,
      go,
      `package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tollgate "tollgate/sdk"
)

func main() {
	client, _ := tollgate.New(tollgate.Options{BaseURL: os.Getenv("BASE_URL"), Username: "demo", APIKey: "key", Retries: 20})
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	short, end := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer end()
	for _, ctx := range []context.Context{canceled, short} {
		_, err := client.Domains.Check(ctx, []string{"example.com"}, false, tollgate.WithIdempotencyKey("order-1"))
		var ended *tollgate.CanceledError
		fmt.Println(errors.As(err, &ended), ended.IdempotencyKey, errors.Is(err, ctx.Err()), ctx.Err())
		fmt.Println(err)
	}
	_, err := client.SMS.Templates(canceled)
	var free *tollgate.CanceledError
	fmt.Println(errors.As(err, &free), free.IdempotencyKey == "")
}
`,
    )
    if (shown === undefined) return
    const message = 'tollgate: the context of the call ended; the call may have been executed'
    assert.equal(
      shown,
      `true order-1 true context canceled
${message}: context canceled
true order-1 true context deadline exceeded
${message}: context deadline exceeded
true true
`,
    )
  })

  test('Go: text that is not UTF-8 is refused, not replaced', async (t) => {
    const shown = await print(
      t,
      go,
      `package main

import (
	"context"
	"fmt"
	"os"

	tollgate "tollgate/sdk"
)

func main() {
	client, _ := tollgate.New(tollgate.Options{BaseURL: os.Getenv("BASE_URL"), Username: "demo", APIKey: "key", Retries: -1})
	for _, text := range []string{"\\xd6\\xd0", "中\\xff", "中", "\\ufffd", "\\\\ufffd", "\\\\\\xff"} {
		_, err := client.SMS.Send(context.Background(), tollgate.Message{
			PhoneNumber: "13800138000", TemplateCode: "CODE", TemplateParams: map[string]string{"code": text}})
		fmt.Printf("%T\\n", err)
	}
}
`,
    )
    if (shown === undefined) return
    const [refused, sent] = ['*errors.errorString\n', '*tollgate.ConnectionError\n']
    assert.equal(shown, [refused, refused, sent, sent, sent, refused].join(''))
  })

  test('Go: a printed client does not show the key', async (t) => {
    const shown = await print(
      t,
      go,
      `package main

import (
	"fmt"

	tollgate "tollgate/sdk"
)

func main() {
	client, err := tollgate.New(tollgate.Options{BaseURL: "http://127.0.0.1", Username: "demo", APIKey: "hidden-key"})
	fmt.Println(err)
	settings := struct{ Client *tollgate.Client }{client}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		fmt.Println(fmt.Sprintf(format, client))
		fmt.Println(fmt.Sprintf(format, *client))
		fmt.Println(fmt.Sprintf(format, settings))
	}
}
`,
    )
    if (shown === undefined) return
    assert.doesNotMatch(shown, /hidden/)
    assert.match(shown, /^<nil>\ntollgate\.Client\(http:\/\/127\.0\.0\.1, demo\)\n/)
  })
})

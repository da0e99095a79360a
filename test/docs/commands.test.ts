import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { installedPackage } from '../package/installed.ts';
import { runWell } from '../package/tree.ts';
import { needs } from '../tools/needs.ts';
import { type Block, blocksOf } from './blocks.ts';
import { pages, readPage, root } from './pages.ts';

const blocks = new Map(pages.map((page) => [page, blocksOf(readPage(page))]));

/** A copy of the checkout, with the files that the pages ask for: commands of the documentation change files. */
let checkout: string;
/** npx keeps a link to each checkout that it was called in: a cache for this one alone, with the user's downloads. */
let npmCache: string;
beforeAll(async () => {
  const project = fileURLToPath(root);
  checkout = mkdtempSync(join(tmpdir(), 'documentation-'));
  const leftOut = new Set(['node_modules', '.git', 'dist', 'coverage']);
  cpSync(project, checkout, { recursive: true, filter: (path) => !leftOut.has(basename(path)) });
  symlinkSync(join(project, 'node_modules'), join(checkout, 'node_modules'));
  for (const { file, text } of [...blocks.values()].flat()) {
    if (file !== undefined) {
      writeFileSync(join(checkout, file), text);
    }
  }
  npmCache = join(checkout, '.npm-cache');
  mkdirSync(npmCache);
  const usersCache = (await runWell(checkout, 'npm', ['config', 'get', 'cache'])).trim();
  symlinkSync(join(usersCache, '_cacache'), join(npmCache, '_cacache'));
});
afterAll(() => rmSync(checkout, { recursive: true }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

// Some install packages.
const patience = { timeout: 150_000, interval: 20 };

/** What a process printed so far. */
interface Started {
  child: ChildProcess;
  output: () => string;
}

/** A terminal: commands run in one shell, one after the other; what stays running ends with it. */
async function openTerminal() {
  const [webhookPort, healthPort] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    // The ports of the documentation may be taken on this machine.
    EXTENSIONCONFIG_WEBHOOK_SERVE_PORT: String(webhookPort),
    EXTENSIONCONFIG_WEBHOOK_SERVE_HEALTH_PORT: String(healthPort),
    EXTENSIONCONFIG_WEBHOOK_SERVE_HOST: '127.0.0.1',
    EXTENSIONCONFIG_WEBHOOK_SERVE_HEALTH_HOST: '127.0.0.1',
    // Targets of the sandbox need no half minute.
    EXTENSIONCONFIG_WEBHOOK_CERTS_PROPAGATION_DELAY: '1s',
    npm_config_cache: npmCache,
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
    npm_config_update_notifier: 'false',
    KUBECONFIG: '/dev/null',
  };
  const withPorts = (text: string) =>
    text.replaceAll(/\b9443\b/g, String(webhookPort)).replaceAll(/\b8080\b/g, String(healthPort));
  const running: ChildProcess[] = [];
  // In a process group of its own, so that what a shell or npm has started ends too.
  function start(args: string[]): Started {
    const child = spawn('bash', ['--norc', '--noprofile', ...args], { cwd: checkout, env, detached: true });
    running.push(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    return { child, output: () => text };
  }
  const shell = start([]);
  let count = 0;
  const script = join(checkout, '.block');

  /** Runs commands; returns what they printed and the exit code of the last one that failed, else 0. */
  async function run(text: string): Promise<{ output: string; code: number }> {
    const marker = `:: end of block ${++count}:`;
    const before = shell.output().length;
    writeFileSync(script, withPorts(text));
    shell.child.stdin?.write(
      `set -o pipefail; failed=0; trap 'failed=$?' ERR; source '${script}' </dev/null; trap - ERR; echo "${marker} $failed"\n`,
    );
    await vi.waitUntil(() => shell.output().includes(marker) || shell.child.exitCode !== null, patience);
    const [printed = '', code = ''] = shell.output().slice(before).split(marker);
    return { output: printed, code: Number.parseInt(code, 10) };
  }

  /** Starts something that goes on, and waits until it prints a text. */
  async function startInBackground(text: string, ready: string): Promise<void> {
    const { child, output } = start(['-c', withPorts(text)]);
    await vi.waitUntil(() => output().includes(ready) || child.exitCode !== null, patience);
    expect(output(), text).toContain(ready);
  }

  async function close(): Promise<void> {
    for (const child of running.toReversed()) {
      if (child.exitCode === null && child.pid !== undefined) {
        const ended = once(child, 'close');
        process.kill(-child.pid, 'SIGTERM');
        await ended;
      }
    }
  }
  return { run, startInBackground, close };
}

const isRun = ({ language, skip }: Block) => language === 'sh' && skip === undefined;
const makesPackage = /^npm pack\b/m;
const installsPackages = /^npm install\b/m;
const usesCluster = (text: string) => /\bkubectl (?!extensionconfig)|\$TARGETS/.test(text);
const addsBin = 'export PATH="$PWD/bin:$PATH"';
const startSandbox =
  'bin/extensionconfig-webhook sandbox --no-extension --no-controller --write-kubeconfig kubeconfig-of-test';
const useSandbox = 'export KUBECONFIG=$PWD/kubeconfig-of-test';

describe('every command runs, in the order of the page', needs('kubectl'), () => {
  test.each(pages.filter((page) => blocks.get(page)?.some(isRun)))('%s', { timeout: 400_000 }, async (page) => {
    const own = blocks.get(page) ?? [];
    const terminal = await openTerminal();
    try {
      // The README begins where a user begins; the other pages come after it.
      if (page !== 'README.md') {
        await terminal.run(addsBin);
      }
      let installs = '';
      if (own.some(({ text }) => makesPackage.test(text))) {
        const { tarball, consumer } = await installedPackage();
        cpSync(tarball, join(checkout, basename(tarball)));
        // What npm would unpack once more: it looks through it, and adds what the project has besides.
        installs = `cp -r '${join(consumer, 'node_modules')}' .`;
      }
      const text = own.filter(isRun).map((block) => block.text);
      if (text.some(usesCluster) && !text.some((block) => block.includes('sandbox.kubeconfig'))) {
        await terminal.startInBackground(startSandbox, 'kubectl get');
        await terminal.run(useSandbox);
      }
      for (const block of own) {
        if (isRun(block) && block.background !== undefined) {
          const inPath = page === 'README.md' ? '' : `${addsBin}\n`;
          await terminal.startInBackground(`${inPath}${block.text}`, block.background);
        } else if (isRun(block)) {
          if (installsPackages.test(block.text)) {
            await terminal.run(installs);
          }
          const { output, code } = await terminal.run(block.text);
          expect(code, `${page}:${block.line}\n${block.text}\n${output}`).toBe(block.exit);
        }
      }
    } finally {
      await terminal.close();
    }
  });

  test('the picture of a terminal shows what is printed', { timeout: 120_000 }, async () => {
    const recorded = readFileSync(new URL('docs/images/terminal.txt', root), 'utf8');
    const terminal = await openTerminal();
    try {
      await terminal.startInBackground(startSandbox, 'kubectl get');
      await terminal.run(useSandbox);
      let session = '';
      for (const command of recorded.split('\n').filter((line) => line.startsWith('$ '))) {
        const { output } = await terminal.run(`${command.slice(2)} 2>&1`);
        session += `${command}\n${output}`;
      }
      if (process.env.UPDATE_TERMINAL === 'true') {
        writeFileSync(new URL('docs/images/terminal.txt', root), session);
      } else {
        expect(session).toBe(recorded);
      }
    } finally {
      await terminal.close();
    }
  });
});

test('these blocks do not run, and say why', () => {
  const skipped = pages.flatMap((page) =>
    (blocks.get(page) ?? [])
      .filter(({ language, skip }) => language === 'sh' && skip !== undefined)
      .map(({ text, skip }) => `${page}: ${text.split('\n')[0]}: ${skip}`),
  );
  expect(skipped).toEqual([
    'README.md: npm ci && npm start: starts what the next one starts, and npm ci brought what runs this test',
    'README.md: npm ci && npm test: this is npm test',
    'README.md: docker build -t registry.example.com/extensionconfig-webhook:0.1.0 .: needs a container engine and a registry',
    'docs/certificates.md: extensionconfig-webhook certs rotate --force-ca --wait $TARGETS: takes a day; docs/sandbox.md has one of five seconds',
    'docs/command-line.md: docker run --rm -v "$PWD:/work:ro" -w /work registry.example.com/extensionconfig-webhook:0.1.0 lint manifests: needs a container engine; test/package/image.test.ts runs the entry point',
    'docs/extension-tutorial.md: npm pack --loglevel=error: test/package makes the package',
    'docs/install.md: docker build -t registry.example.com/extensionconfig-webhook:0.1.0 .: needs a container engine and a registry',
    'docs/install.md: kubectl -n extensionconfig-webhook-system rollout status deployment/extensionconfig-webhook: no pod runs in the sandbox',
    'docs/operations.md: kubectl -n extensionconfig-webhook-system port-forward deployment/extensionconfig-webhook 8080 &: no pod runs in the sandbox',
    'docs/recipes.md: kustomize build overlays/production | npx extensionconfig-webhook lint -: needs kustomize and helm',
    'docs/runtime-hooks.md: extensionconfig-webhook discover: needs an extension in a cluster',
    'CONTRIBUTING.md: npm ci: npm ci brought what runs this test, and this is npm test',
  ]);
});

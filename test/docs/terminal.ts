import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, vi } from 'vitest';
import { runWell } from '../package/tree.ts';
import { onceARun } from '../support/once-a-run.ts';
import { blocksOf } from './blocks.ts';
import { pages, readPage, root } from './pages.ts';

/** Large, and not written to by commands: not checked for changes. */
const large = ['node_modules', 'src', 'test'];
/** What else is linked to the checkout. Users have more there: an extension, the kubeconfig of a sandbox that runs. */
const small = ['bin', 'docs', 'manifests', 'package.json', 'package-lock.json', 'templates'];
/** Commands of the documentation write to its folder. */
const copied = 'certs/README.md';

/**
 * Files of the checkout that are linked, with their modification times: shows if a command writes to one by mistake.
 */
function linkedState(): string[] {
  return small
    .flatMap((name) => {
      const path = fileURLToPath(new URL(name, root));
      const below = statSync(path).isDirectory() ? (readdirSync(path, { recursive: true }) as string[]) : [];
      return [path, ...below.map((inner) => join(path, inner))];
    })
    .map((path) => `${path} of ${statSync(path).mtime.toISOString()}`);
}

/**
 * Makes a copy of the checkout with the files that the pages ask for: commands of the documentation change files.
 *
 * @param own the pages whose commands will run: of files with the same name, theirs are taken, the last one's first.
 */
async function copyCheckout(name: string, own: readonly string[]): Promise<string> {
  const project = fileURLToPath(root);
  const checkout = join(inject('runFolder'), `documentation-${name}`);
  mkdirSync(checkout);
  cpSync(join(project, copied), join(checkout, copied));
  for (const entry of [...large, ...small]) {
    symlinkSync(join(project, entry), join(checkout, entry));
  }
  const ownLast = pages.toSorted((a, b) => own.indexOf(a) - own.indexOf(b));
  for (const { file, text } of ownLast.flatMap((page) => blocksOf(readPage(page)))) {
    if (file !== undefined) {
      // Must not overwrite the file of that name in the checkout.
      rmSync(join(checkout, file), { force: true });
      writeFileSync(join(checkout, file), text);
    }
  }
  // npx keeps a link to each checkout that it was called in: a cache for this one only, with the user's downloads.
  const npmCache = join(checkout, npmCacheFolder);
  mkdirSync(npmCache);
  const usersCache =
    // Set by npm for its scripts.
    process.env.npm_config_cache ??
    (await onceARun('npm-cache', async () => (await runWell(checkout, 'npm', ['config', 'get', 'cache'])).trim()));
  symlinkSync(join(usersCache, '_cacache'), join(npmCache, '_cacache'));
  return checkout;
}

const npmCacheFolder = '.npm-cache';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

// Some commands install packages.
const patience = { timeout: 150_000, interval: 20 };

/** Output of a process so far. */
interface Started {
  child: ChildProcess;
  output: () => string;
}

/**
 * A terminal in a checkout of its own: commands run in one shell, one after the other; background processes end with
 * it.
 *
 * @param name differs from that of any other terminal.
 * @param own the pages whose commands will run in it.
 */
export async function openTerminal(name: string, own: readonly string[] = []) {
  const checkout = await copyCheckout(name, own);
  const linked = linkedState();
  const [webhookPort, healthPort] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    // The ports of the documentation may be in use on this machine.
    EXTENSIONCONFIG_PORT: String(webhookPort),
    EXTENSIONCONFIG_HEALTH_PORT: String(healthPort),
    EXTENSIONCONFIG_HOST: '127.0.0.1',
    // Of a generated extension.
    PORT: String(webhookPort),
    HEALTH_PORT: String(healthPort),
    npm_config_cache: join(checkout, npmCacheFolder),
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
    KUBECONFIG: '/dev/null',
  };
  const adapted = (text: string) =>
    text
      .replaceAll(/\b9443\b/g, String(webhookPort))
      .replaceAll(/\b8080\b/g, String(healthPort))
      // Targets of the sandbox do not need half a minute.
      .replaceAll(/\bcerts (bootstrap|rotate)\b/g, '$& --propagation-delay 1s');
  const running: ChildProcess[] = [];
  let path = env.PATH;
  // In a process group of its own, so that processes started by a shell or npm end, too.
  function start(args: string[]): Started {
    const child = spawn('bash', ['--norc', '--noprofile', ...args], {
      cwd: checkout,
      env: { ...env, PATH: path },
      detached: true,
    });
    running.push(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    return { child, output: () => text };
  }
  let shell = start([]);
  let count = 0;
  const script = join(checkout, '.block');

  /** Starts another shell, which has nothing of the one before; `commands` is a folder on its PATH. */
  async function newShell(commands?: string): Promise<void> {
    await end(shell.child);
    path = [...(commands === undefined ? [] : [commands]), env.PATH].join(delimiter);
    shell = start([]);
  }

  /** Runs commands; returns their output and the exit code of the last one that failed, else 0. */
  async function run(text: string): Promise<{ output: string; code: number }> {
    const marker = `:: end of block ${++count}:`;
    const before = shell.output().length;
    writeFileSync(script, adapted(text));
    shell.child.stdin?.write(
      `set -o pipefail; failed=0; trap 'failed=$?' ERR; source '${script}' </dev/null; trap - ERR; echo "${marker} $failed"\n`,
    );
    await vi.waitUntil(() => shell.output().includes(marker) || shell.child.exitCode !== null, patience);
    const [printed = '', code = ''] = shell.output().slice(before).split(marker);
    return { output: printed, code: Number.parseInt(code, 10) };
  }

  /**
   * Starts a command that keeps running, and waits until it prints a text.
   *
   * @returns its output so far.
   */
  async function startInBackground(text: string, ready: string): Promise<() => string> {
    const { child, output } = start(['-c', adapted(text)]);
    await vi.waitUntil(() => output().includes(ready) || child.exitCode !== null, patience);
    expect(output(), text).toContain(ready);
    return output;
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const ended = once(child, 'close');
      process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
  }

  async function close(): Promise<void> {
    for (const child of running.toReversed()) {
      await end(child);
    }
    rmSync(checkout, { recursive: true });
    expect(linkedState(), `what is linked in ${checkout} changed, by a command there or beside it`).toEqual(linked);
  }
  return { checkout, newShell, run, startInBackground, close };
}

/** An open terminal. */
export type Terminal = Awaited<ReturnType<typeof openTerminal>>;

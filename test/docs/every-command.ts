import { readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { shellPath } from '../../src/cli/index.ts';
import { ready, startAlone } from '../commands/sandbox/running.ts';
import { type Installed, installedPackage } from '../package/installed.ts';
import { needs } from '../tools/needs.ts';
import { type Block, blocksOf } from './blocks.ts';
import { readPage } from './pages.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Whether a block holds commands that a test can run. */
export const isRun = ({ language, skip }: Block) => language === 'sh' && skip === undefined;
const installsPackages = /^npm install\b/m;
const usesCluster = (text: string) => /\bkubectl (?!extensionconfig)|\$TARGETS/.test(text);
const callsProgram = /(^|\| )extensionconfig-webhook /m;
/** The folder of commands in a project that has the package installed. */
export const commandsOf = ({ project }: Installed) => join(project, 'node_modules/.bin');

/**
 * A sandbox for commands that need a cluster, in this process, which has its modules already; its kubeconfig is the one
 * in use.
 */
export async function useSandbox(terminal: Terminal): Promise<() => Promise<void>> {
  const { stop, output, ended } = startAlone([]);
  await terminal.run(`export KUBECONFIG=${shellPath(await ready(output))}`);
  return async () => {
    stop.abort();
    await ended;
  };
}

/** Gives a project the packages of another one that has them installed: the tests of the package cover installing. */
function takeInstalled({ project, tarball }: Installed, folder: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies: object };
  expect(dependencies).toEqual({ 'extensionconfig-webhook': `file:${join(dirname(folder), basename(tarball))}` });
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
}

/** The result of running a page. */
interface Ran {
  terminal: Terminal;
  /** Output of the commands that exited, by their text. */
  printed: ReadonlyMap<string, string>;
  /** Output so far of each command that keeps running. */
  background: readonly (() => string)[];
}

/**
 * The test that every command of a page runs, in the order of the page; each page has a file of its own that calls
 * this.
 *
 * @param andThen inspects their output, while background processes still run.
 */
export function everyCommandRuns(page: string, andThen?: (ran: Ran) => Promise<void>): void {
  test(`every command of ${page} runs, in order`, { ...needs('kubectl'), timeout: 400_000 }, async () => {
    const own = blocksOf(readPage(page));
    const run = own.filter(isRun).map(({ text }) => text);
    // The README is for a checkout, and says how to call the program there. The other pages leave that open: there it
    // is the package's, which starts in half the time.
    const isInstalled = page !== 'README.md' && run.some((text) => callsProgram.test(text));
    const installed = isInstalled ? await installedPackage() : undefined;
    const terminal = await openTerminal(basename(page, '.md'), installed && commandsOf(installed));
    const printed = new Map<string, string>();
    const background: (() => string)[] = [];
    let stopSandbox: (() => Promise<void>) | undefined;
    try {
      if (run.some(usesCluster) && !run.some((text) => text.includes('sandbox.kubeconfig'))) {
        stopSandbox = await useSandbox(terminal);
      }
      for (const block of own) {
        if (installed !== undefined && installsPackages.test(block.text)) {
          const { output } = await terminal.run('pwd');
          takeInstalled(installed, output.trim());
        }
        if (isRun(block) && block.background !== undefined) {
          background.push(await terminal.startInBackground(block.text, block.background));
        } else if (isRun(block)) {
          const { output, code } = await terminal.run(block.text);
          expect(code, `${page}:${block.line}\n${block.text}\n${output}`).toBe(block.exit);
          printed.set(block.text, output);
        }
      }
      await andThen?.({ terminal, printed, background });
    } finally {
      await terminal.close();
      await stopSandbox?.();
    }
  });
}

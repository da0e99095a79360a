import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { ready, startAlone } from '../cli/commands/sandbox/running.ts';
import { type Installed, installedPackages, linkPackages } from '../package/installed.ts';
import { needs } from '../support/needs.ts';
import { type Block, blocksOf } from './blocks.ts';
import { readPage } from './pages.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Whether a block holds commands that a test can run. */
export const isRun = ({ language, skip }: Block) => language === 'sh' && skip === undefined;
const installsPackages = /^npm install\b/m;
const usesCluster = (text: string) => /\bkubectl (?!extensionconfig)/.test(text);
const callsProgram = /(^|\| )extensionconfig-webhook /m;
/** The folder of commands in a project that has the package installed. */
export const commandsOf = ({ program }: Installed) => join(program, 'node_modules/.bin');

/**
 * A sandbox for commands that need a cluster, in this process, which has its modules already. `use` is the command that
 * makes its kubeconfig the one in use.
 */
export async function startSandbox(flags: readonly string[] = []): Promise<{ use: string; stop(): Promise<void> }> {
  const { stop, output, ended } = startAlone([...flags]);
  const use = `export KUBECONFIG='${await ready(output)}'`;
  return {
    use,
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

/** The result of running a page. */
export interface Ran {
  terminal: Terminal;
  /** Output of the commands that exited, by their text. */
  printed: ReadonlyMap<string, string>;
  /** Output so far of each command that keeps running. */
  background: readonly (() => string)[];
}

const blocksToRun = (page: string) => blocksOf(readPage(page)).filter(isRun);
// The README is for a checkout, and says how to call the program there. The other pages leave that open: there it is
// the package's, as its users have it.
const isForPackage = (page: string) =>
  page !== 'README.md' && blocksToRun(page).some(({ text }) => callsProgram.test(text));
const usesSandbox = (page: string) =>
  blocksToRun(page).some(({ text }) => usesCluster(text)) &&
  !blocksToRun(page).some(({ text }) => text.includes('sandbox.kubeconfig'));

/**
 * The test that every command of a page runs, in the order of the page; each page is in one file that calls this. With
 * several pages they run one after the other, each in a shell of its own, and share a checkout, a sandbox and what runs
 * in the background: the same server is not started for each of them.
 *
 * @param andThen inspects the output of a page, while background processes still run.
 */
export function everyCommandRuns(
  pages: string | readonly string[],
  andThen: Readonly<Record<string, (ran: Ran) => Promise<void>>> = {},
): void {
  const all = [pages].flat();
  test(`every command of ${all.join(', ')} runs, in order`, { ...needs('kubectl'), timeout: 400_000 }, async () => {
    const installed = all.some(isForPackage) ? await installedPackages() : undefined;
    const terminal = await openTerminal(all.map((page) => basename(page, '.md')).join('-'), all);
    const started = new Map<string, () => string>();
    let sandbox: Awaited<ReturnType<typeof startSandbox>> | undefined;
    try {
      for (const page of all) {
        await terminal.newShell(installed !== undefined && isForPackage(page) ? commandsOf(installed) : undefined);
        if (installed !== undefined && readPage(page).includes('--packages packages')) {
          // What `npm run pack -- packages` has written.
          await terminal.run(`ln -s '${installed.packages}' packages`);
        }
        if (usesSandbox(page)) {
          sandbox ??= await startSandbox();
          await terminal.run(sandbox.use);
        }
        const printed = new Map<string, string>();
        const background: (() => string)[] = [];
        for (const block of blocksOf(readPage(page))) {
          if (installed !== undefined && installsPackages.test(block.text)) {
            const { output } = await terminal.run('pwd');
            linkPackages(installed, output.trim());
          }
          if (isRun(block) && block.background !== undefined) {
            const output = started.get(block.text) ?? (await terminal.startInBackground(block.text, block.background));
            started.set(block.text, output);
            background.push(output);
          } else if (isRun(block)) {
            const { output, code } = await terminal.run(block.text);
            expect(code, `${page}:${block.line}\n${block.text}\n${output}`).toBe(block.exit);
            printed.set(block.text, output);
          }
        }
        await andThen[page]?.({ terminal, printed, background });
      }
    } finally {
      await terminal.close();
      await sandbox?.stop();
    }
  });
}

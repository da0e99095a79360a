import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { installedPackage } from '../package/installed.ts';
import { needs } from '../tools/needs.ts';
import { type Block, blocksOf } from './blocks.ts';
import { readPage } from './pages.ts';
import { openTerminal } from './terminal.ts';

/** Whether a block is commands that a test can run. */
export const isRun = ({ language, skip }: Block) => language === 'sh' && skip === undefined;
const makesPackage = /^npm pack\b/m;
const installsPackages = /^npm install\b/m;
const usesCluster = (text: string) => /\bkubectl (?!extensionconfig)|\$TARGETS/.test(text);
const addsBin = 'export PATH="$PWD/bin:$PATH"';
/** A sandbox for commands that need a cluster. */
export const startSandbox =
  'bin/extensionconfig-webhook sandbox --no-extension --no-controller --write-kubeconfig kubeconfig-of-test';
export const useSandbox = 'export KUBECONFIG=$PWD/kubeconfig-of-test';

/** The test that every command of a page runs, in the order of the page; each page has a file of its own that calls this. */
export function everyCommandRuns(page: string): void {
  test(`every command of ${page} runs, in its order`, { ...needs('kubectl'), timeout: 400_000 }, async () => {
    const own = blocksOf(readPage(page));
    const terminal = await openTerminal();
    try {
      // The README begins where a user begins; the other pages come after it.
      if (page !== 'README.md') {
        await terminal.run(addsBin);
      }
      let installs = '';
      if (own.some(({ text }) => makesPackage.test(text))) {
        const { tarball, consumer } = await installedPackage();
        cpSync(tarball, join(terminal.checkout, basename(tarball)));
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
}

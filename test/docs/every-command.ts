import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Installed, installedPackage, projectName } from '../package/installed.ts';
import { linkDependencies } from '../package/tree.ts';
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

/**
 * Gives a project the packages of another one that has them installed: npm finds that nothing is missing. The tests of the
 * package see how it installs them.
 */
function takeInstalled({ project, tarball }: Installed, folder: string): void {
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  linkDependencies(project, folder, /^/);
  const lockfile = readFileSync(join(project, 'package-lock.json'), 'utf8');
  const own = lockfile.replaceAll(`"${projectName}"`, `"${name}"`);
  writeFileSync(join(folder, 'package-lock.json'), own.replaceAll(tarball, join(dirname(folder), basename(tarball))));
}

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
      const installed = own.some(({ text }) => makesPackage.test(text)) ? await installedPackage() : undefined;
      if (installed !== undefined) {
        cpSync(installed.tarball, join(terminal.checkout, basename(installed.tarball)));
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
          if (installed !== undefined && installsPackages.test(block.text)) {
            const { output } = await terminal.run('pwd');
            takeInstalled(installed, output.trim());
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

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { onceARun } from '../support/once-a-run.ts';
import { fromRegistry, linkDependencies, notAsLocked, projectFolder, runWell, takeFrom } from './tree.ts';

/** The files that .dockerignore lets through. It lists what is allowed; other kinds of list are not supported here. */
function buildContext(): string[] {
  const lines = readFileSync(join(projectFolder, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines[0]).toBe('*');
  return lines.slice(1).map((line) => {
    expect(line).toMatch(/^![\w./-]+$/);
    return line.slice(1);
  });
}

/** The Dockerfile's instructions of one stage: continued lines joined, comments left out. */
export function instructions(stage: 'build' | 'runtime'): string[] {
  const lines = readFileSync(join(projectFolder, 'Dockerfile'), 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const second = lines.findLastIndex((line) => line.startsWith('FROM '));
  return stage === 'build' ? lines.slice(0, second) : lines.slice(second);
}

/**
 * The first step of the build: the checkout has already unpacked what it installs. Most of that is for development and
 * removed in the last step; of it, only what a build needs is linked.
 */
function takeDependencies(folder: string): void {
  expect(notAsLocked(projectFolder), 'node_modules is not what npm ci makes: run npm ci').toEqual([]);
  linkDependencies(projectFolder, folder, /^node_modules\/(@?typescript|@types|openapi-explorer)\b/);
}

/**
 * A folder after the steps of the image's first stage, run in order on the files that a container engine would send;
 * made once per test run. Read-only.
 */
export function builtImage(): Promise<string> {
  return onceARun('image-build', async (folder) => {
    takeFrom(projectFolder, buildContext(), folder);
    for (const line of instructions('build')) {
      const [instruction, ...rest] = line.split(' ');
      if (instruction === 'COPY') {
        for (const source of rest.slice(0, -1)) {
          expect(existsSync(join(folder, source)), `COPY ${source}: .dockerignore keeps it out`).toBe(true);
        }
      } else if (instruction === 'RUN') {
        const command = rest.join(' ');
        if (command.startsWith('npm ci ') && !fromRegistry) {
          takeDependencies(folder);
        } else {
          await runWell(folder, '/bin/sh', ['-c', command]);
        }
      }
    }
    // npm ci would refuse a lockfile that does not match package.json; npm prune would add what is missing.
    expect(readFileSync(join(folder, 'package-lock.json'), 'utf8'), 'package-lock.json: run npm install').toBe(
      readFileSync(join(projectFolder, 'package-lock.json'), 'utf8'),
    );
    return folder;
  });
}

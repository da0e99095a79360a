import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { replaceFile } from '../../../src/kubernetes/manifests/index.ts';
import { needs } from '../../support/needs.ts';

const root = mkdtempSync(join(tmpdir(), 'replace-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder = root;
let file = root;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'x-'));
  file = join(folder, 'a.yaml');
  writeFileSync(file, 'old');
});

const isRoot = process.getuid?.() === 0;
const module = new URL('../../../src/kubernetes/manifests/replace-file.ts', import.meta.url).href;

/** A process that runs code with the replacer. */
function start(code: string) {
  const script = `const { replaceFile } = await import(${JSON.stringify(module)}); ${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function said(child: ReturnType<typeof start>): Promise<string> {
  const chunks: string[] = [];
  child.stdout.on('data', (chunk) => chunks.push(String(chunk)));
  await once(child, 'close');
  return chunks.join('');
}

test('replaces the content, keeps mode and symbolic link, and leaves nothing behind', async () => {
  chmodSync(file, 0o604);
  symlinkSync('a.yaml', join(folder, 'link.yaml'));
  await replaceFile({ file: join(folder, 'link.yaml'), isLinkOut: false }, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o7777).toBe(0o604);
  expect(readdirSync(folder).sort()).toEqual(['a.yaml', 'link.yaml']);
});

test('keeps owner and group, each of which may be different', needs('root', isRoot), async () => {
  for (const [owner, group] of [
    [1234, 2345],
    [1234, 0],
    [0, 2345],
  ] as const) {
    chownSync(file, owner, group);
    chmodSync(file, 0o2640);
    await replaceFile({ file, isLinkOut: false }, 'new');
    const { uid, gid, mode } = statSync(file);
    expect([uid, gid, mode & 0o7777]).toEqual([owner, group, 0o2640]);
  }
});

describe('a user', needs('root', isRoot), () => {
  let foreign: string;
  let readOnly: string;
  let messages: string[];
  // Both in one process: only a process of another user is refused what that user may not do.
  beforeAll(async () => {
    for (let path = root; path !== tmpdir(); path = join(path, '..')) {
      chmodSync(path, 0o777);
    }
    const owned = (mode: number, uid?: number, gid?: number) => {
      const into = mkdtempSync(join(root, 'user-'));
      chmodSync(into, 0o777);
      const path = join(into, 'a.yaml');
      writeFileSync(path, 'old');
      chmodSync(path, mode);
      if (uid !== undefined && gid !== undefined) {
        chownSync(path, uid, gid);
      }
      return path;
    };
    foreign = owned(0o666, 1234, 2345);
    readOnly = owned(0o444);
    // It becomes that user only now, who need not be able to read the sources.
    const code = `process.setgroups([]); process.setgid(4321); process.setuid(4321);
    for (const file of ${JSON.stringify([foreign, readOnly])}) {
      await replaceFile({ file, isLinkOut: false }, 'new').catch(({ code, message }) => console.log(code ?? message));
    }`;
    messages = (await said(start(code))).split('\n');
  });

  test('who cannot keep the owner gets an error, and the file is unchanged', () => {
    expect(messages[0]).toMatch(
      /^belongs to user 1234, group 2345, to which this user cannot assign a new file; run as its owner, or use a copy/,
    );
    expect(readFileSync(foreign, 'utf8')).toBe('old');
    expect(readdirSync(dirname(foreign))).toEqual(['a.yaml']);
  });

  test('who may not write a file does not replace it', () => {
    expect(messages.slice(1)).toEqual(['EACCES', '']);
    expect(readFileSync(readOnly, 'utf8')).toBe('old');
  });
});

test('a run that is killed halfway leaves the old content or the new one', async () => {
  const code = `
    
    console.log('started');
    for (let round = 0; ; round++) await replaceFile({ file: ${JSON.stringify(file)}, isLinkOut: false }, String(round % 10).repeat(1_000_000));
  `;
  const child = start(code);
  await once(child.stdout, 'data');
  await new Promise((resolve) => setTimeout(resolve, 100));
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(readFileSync(file, 'utf8')).toMatch(/^(?:old|(?<digit>\d)\k<digit>{999999})$/);
  await replaceFile({ file, isLinkOut: false }, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
});

test('rejects a folder', async () => {
  await expect(replaceFile({ file: folder, isLinkOut: false }, 'new')).rejects.toThrow('is not a regular file');
});

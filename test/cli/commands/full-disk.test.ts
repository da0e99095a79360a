import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

test.skipIf(process.platform !== 'linux')('output that cannot be written is one line, not a stack trace', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [main, 'rules'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect([status, stderr]).toEqual([
    1,
    'extensionconfig-webhook: the output cannot be written: ENOSPC: no space left on device, write\n',
  ]);
});

/** Mounts a file system of one page in a namespace of its own. */
const mount = ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=4k none "$0" && "$@"; code=$?; ls -A "$0"; exit $code'];
const canMount = spawnSync('unshare', [...mount, tmpdir(), 'true']).status === 0;

test.skipIf(!canMount).each(['--write', '--record'])(
  'plan %s on a full disk leaves nothing behind, and says that there is no room',
  (flag) => {
    const disk = mkdtempSync(join(tmpdir(), 'full-'));
    onTestFinished(() => rmSync(disk, { recursive: true }));
    const folder = join(disk, 'out');
    const args = ['plan', '--from', 'manifests/samples/plan', '--set-variable', 'nodeLabel="gpu"', flag, folder];
    const { status, stdout, stderr } = spawnSync('unshare', [...mount, disk, process.execPath, main, ...args], {
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      `extensionconfig-webhook: ${flag}: ${folder} cannot be written: the disk is full: make room, or choose a folder on another disk\n`,
    ]);
  },
);

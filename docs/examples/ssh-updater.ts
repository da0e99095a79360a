// Updates nodes over SSH, in a systemd unit whose name is the same for all replicas.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { MachineUpdate, MachineUpdater } from 'cluster-api-extension';
import { addressOf, kubeletVersion } from './machine-status.ts';

/** A word, quoted for the node's shell. */
const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;

async function ssh(update: MachineUpdate, signal: AbortSignal, ...command: string[]): Promise<string> {
  const words = ['-o', 'BatchMode=yes', `root@${await addressOf(update)}`, ...command.map(quoted)];
  const { stdout } = await promisify(execFile)('ssh', words, { signal });
  return stdout.trim();
}

const unitOf = ({ key }: MachineUpdate) => `update-${key}.service`;

/** Starts the unit again if it failed, but not if another replica has started it. */
const beginOnce =
  'systemctl reset-failed "$0" 2>/dev/null; systemctl is-active --quiet "$0" || systemd-run --remain-after-exit --unit="$0" -- "$@"';

export const sshUpdater: MachineUpdater = {
  async look(update, signal) {
    const shown = await ssh(
      update,
      signal,
      'systemctl',
      'show',
      '--property=LoadState,ActiveState,SubState',
      unitOf(update),
    );
    const { LoadState, ActiveState, SubState } = Object.fromEntries(shown.split('\n').map((line) => line.split('=')));
    if (ActiveState === 'failed') {
      return { state: 'failed', message: 'the update failed: see the journal of the node' };
    }
    return { state: LoadState === 'not-found' ? 'none' : SubState === 'exited' ? 'done' : 'running' };
  },
  async begin(update, signal) {
    const version = update.desired.machine.spec.version ?? '';
    await ssh(update, signal, 'sh', '-c', beginOnce, unitOf(update), '/usr/local/bin/update-node', version);
  },
  kubeletVersion,
};

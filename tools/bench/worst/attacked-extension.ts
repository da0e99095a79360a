import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { localhost, testCa } from '../../../test/base/x509/certificates.ts';
import { freePorts } from '../../../test/support/ports.ts';
import type { ExtensionAssaults } from './extension-assault.ts';

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));
const stopMs = 10_000;

/** An extension server whose log goes to a full disk, under attack by a process of its own. */
export interface AttackedExtension {
  residentMiB(): number;
  /** Stops it under attack, and returns what went wrong. */
  stop(): Promise<string[]>;
}

export async function startExtensionUnderAttack(): Promise<AttackedExtension> {
  const folder = mkdtempSync(join(tmpdir(), 'attacked-'));
  for (const [name, text] of Object.entries({
    'tls.crt': localhost.cert,
    'tls.key': localhost.key,
    'clients.crt': testCa.cert,
  })) {
    writeFileSync(join(folder, name), text);
  }
  const [port, healthPort] = await freePorts();
  const child: ChildProcess = spawn(
    process.execPath,
    [
      ...[main, 'sample-extension', '--cert-dir', folder, '--client-ca-file', join(folder, 'clients.crt')],
      ...['--host', '127.0.0.1', '--port', String(port), '--health-port', String(healthPort), '--log-level', 'debug'],
    ],
    { stdio: ['ignore', openSync('/dev/full', 'w'), 'inherit'] },
  );
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const ready = () =>
    fetch(`http://127.0.0.1:${healthPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await ready())) {
    if (child.exitCode !== null) {
      throw new Error(`sample-extension ended with ${child.exitCode}`);
    }
    await sleep(50);
  }
  let counts: ExtensionAssaults | undefined;
  const assailant = fork(new URL('./extension-assault.ts', import.meta.url), [String(port)]).on('message', (latest) => {
    counts = latest as ExtensionAssaults;
  });
  return {
    residentMiB: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    async stop() {
      const done = counts;
      child.kill('SIGTERM');
      const isInTime = await Promise.race([exited.then(() => true), sleep(stopMs, false)]);
      assailant.kill('SIGKILL');
      child.kill('SIGKILL');
      const [code] = await exited;
      rmSync(folder, { recursive: true });
      if (done === undefined) {
        return ['the attack on the extension server did not begin'];
      }
      const { calls, failed, expired, outlived, padded, swallowed } = done;
      process.stdout.write(
        `extension server, its log on a full disk: ${calls} calls, ${expired} sessions of expired certificates, ${padded} connections with padding\n`,
      );
      return [
        ...(failed > 0 ? [`${failed} of ${calls} calls of the extension server failed`] : []),
        ...(outlived > 0 ? [`${outlived} of ${expired} sessions outlived the certificate of their client`] : []),
        ...(swallowed > 0 ? [`${swallowed} of ${padded} connections could send a GiB of padding`] : []),
        ...(calls * expired * padded === 0 ? ['an attack on the extension server never happened'] : []),
        ...(isInTime && code === 0 ? [] : [`with its log on a full disk the extension server ended with ${code}`]),
      ];
    },
  };
}

import { discardFile } from '../../base/index.ts';
import { createSampleExtension, localExtensionConfig, readBehaviours } from '../../extension/sample/index.ts';
import { fixedCertificate, selfSignedPair, stopInTime } from '../../server/index.ts';
import { defineCommand } from '../framework/command.ts';
import { textFlag } from '../framework/flags.ts';
import { openLog } from '../framework/log.ts';
import { started } from '../framework/port-problem.ts';
import { UsageError, untilStopped } from '../framework/program.ts';
import { version } from '../framework/version.ts';
import { readWith } from './catalog-flags.ts';
import { publishFile } from './publish-file.ts';
import { serverFlags } from './server-flags.ts';

/** Addresses to listen on at which `localhost` reaches the server. */
const localHosts: readonly (string | undefined)[] = [undefined, 'localhost', '127.0.0.1', '::1', '0.0.0.0', '::'];

export const command = defineCommand({
  description: 'Runs an extension server with a handler for each Runtime Hook, to test callers with.',
  flags: {
    ...serverFlags,
    write: textFlag(
      'FILE',
      'with --self-signed: write an ExtensionConfig of this server, for discover, call and others; removed at the end',
    ),
    behaviour: textFlag('FILE', 'YAML file that makes handlers block, fail, hang or respond slowly'),
  },
  async run({ flags, io }) {
    const folder = flags['cert-dir'];
    if ((folder === undefined) !== flags['self-signed']) {
      throw new UsageError(
        'pass either --cert-dir with a folder that has tls.crt and tls.key (`certs bootstrap --cert-dir` creates one), or --self-signed',
      );
    }
    const { port, host, 'health-port': healthPort } = flags;
    const file = flags.write;
    if (file !== undefined && folder !== undefined) {
      throw new UsageError(
        '--write needs --self-signed; with --cert-dir, write an ExtensionConfig with your CA as its caBundle',
      );
    }
    if (file !== undefined && !localHosts.includes(flags.host)) {
      throw new UsageError(
        `--write: the certificate is for localhost, which does not reach --host ${flags.host}; leave --host out, or use 127.0.0.1`,
      );
    }
    const { behaviour, 'client-ca-file': clientCa } = flags;
    using output = await openLog(io.stdout, flags);
    const { log, lostLines } = output;
    const certificates = folder === undefined ? selfSignedPair(new Date()) : { folder };
    const server = createSampleExtension({
      ...(behaviour !== undefined && {
        behaviours: readWith('--behaviour', behaviour, readBehaviours),
      }),
      certificates: 'folder' in certificates ? certificates : fixedCertificate(certificates),
      port,
      healthPort,
      ...(host !== undefined && { host, healthHost: host }),
      ...(clientCa !== undefined && { clients: { caFile: clientCa } }),
      log,
      lostLogLines: lostLines,
      version,
    });
    const running = await started(server.start());
    let isWritten = false;
    try {
      if (file !== undefined && !('folder' in certificates)) {
        const text = localExtensionConfig('sample', running.port, undefined, certificates.cert);
        publishFile('the ExtensionConfig', file, text);
        isWritten = true;
        log.info({ file }, 'ExtensionConfig written');
      }
      await untilStopped(io);
    } finally {
      if (file !== undefined && isWritten) {
        discardFile(file);
      }
      await stopInTime(log, 5_000, (timeoutMs) => running.stop({ timeoutMs }));
    }
  },
});

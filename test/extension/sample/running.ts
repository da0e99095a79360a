import { createSampleExtension, readBehaviours } from '../../../src/extension/sample/index.ts';
import { collectingLog } from '../../server/running.ts';
import { endWith } from '../../support/ends.ts';
import { certificateFolder } from '../sdk/running.ts';

/**
 * Starts the sample extension on a port of its own, by default one whose handlers all succeed; it ends with the test.
 */
export async function startSample(behaviour?: string) {
  const { log, lines } = collectingLog();
  const running = await createSampleExtension({
    ...(behaviour !== undefined && { behaviours: readBehaviours(behaviour) }),
    certificates: { folder: certificateFolder() },
    host: '127.0.0.1',
    port: 0,
    healthHost: '127.0.0.1',
    healthPort: 0,
    log,
    processMetrics: false,
  }).start();
  endWith(() => running.stop({ graceMs: 0, timeoutMs: 100 }));
  return { port: running.port, lines };
}

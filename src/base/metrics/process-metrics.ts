import { createRequire } from 'node:module';
import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';

const require = createRequire(import.meta.url);

/** The modules of prom-client with metrics of the process, without `processCpuTotal`. */
const modules = [
  'processStartTime',
  'osMemoryHeap',
  'processOpenFileDescriptors',
  'processMaxFileDescriptors',
  'eventLoopLag',
  'processResources',
  'processHandles',
  'processRequests',
  'heapSizeAndUsed',
  'heapSpacesSizeAndUsed',
  'version',
  'gc',
];

/** The metrics of `processCpuTotal`: microseconds of CPU time since the process began. */
const cpuTimes = {
  process_cpu_user_seconds_total: {
    help: 'Total user CPU time spent in seconds.',
    of: ({ user }: NodeJS.CpuUsage) => user,
  },
  process_cpu_system_seconds_total: {
    help: 'Total system CPU time spent in seconds.',
    of: ({ system }: NodeJS.CpuUsage) => system,
  },
  process_cpu_seconds_total: {
    help: 'Total user and system CPU time spent in seconds.',
    of: ({ user, system }: NodeJS.CpuUsage) => user + system,
  },
};

/**
 * Adds the metrics of the process to a registry: CPU, memory, garbage collection, event loop lag. They are those of
 * prom-client's `collectDefaultMetrics`, which requires OpenTelemetry's API for exemplars of the CPU time: fifty files,
 * 25 ms of each start of a server.
 */
export function collectProcessMetrics(register: Registry): void {
  const registers = [register];
  for (const [name, { help, of }] of Object.entries(cpuTimes)) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(of(process.cpuUsage()) / 1e6);
      },
    });
  }
  for (const name of modules) {
    const collectInto: (register: Registry, options: object) => void = require(`prom-client/lib/metrics/${name}.js`);
    collectInto(register, { eventLoopMonitoringPrecision: 10 });
  }
}

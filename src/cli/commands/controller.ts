import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import { clusterApiLease, findRival, type RunningController, startController } from '../../controller/index.ts';
import { loadKubeConfig } from '../../kubernetes/client/index.ts';
import { dns1123LabelProblems } from '../../kubernetes/index.ts';
import type { ClientCertificate } from '../../runtimehooks/client/index.ts';
import { fileCertificates, lostLogLinesHelp, startHealthServer, stopInTime } from '../../server/index.ts';
import { defineCommand } from '../framework/command.ts';
import { switchFlag, textFlag } from '../framework/flags.ts';
import { logFlags, openLog } from '../framework/log.ts';
import { started } from '../framework/port-problem.ts';
import { FailureError, untilStopped } from '../framework/program.ts';
import { version } from '../framework/version.ts';
import { catalogFlags } from './catalog-flags.ts';
import { clusterFlags, orNoCluster, ownNamespace } from './cluster-flags.ts';
import { resolveFlag, resolveIn } from './resolve-flag.ts';
import { serverFlags } from './server-flags.ts';

/** Returns the current pair in a folder; undefined without a folder, and while there is no pair in it. */
async function followClientCertificate(folder: string | undefined, log: Logger) {
  let pair: ClientCertificate | undefined;
  const source = folder === undefined ? undefined : fileCertificates(folder);
  const stop = await source?.((event) => {
    if (event.kind === 'pair') {
      pair = { cert: event.pair.cert, key: event.pair.key };
      log.info({ notAfter: event.pair.notAfter }, 'client certificate loaded');
    } else if (event.kind !== 'source') {
      log.error({ reason: event.reason }, 'client certificate not loaded; the previous one stays in use');
    }
  });
  return { current: () => pair, stop: () => stop?.() };
}

async function refuseRival(kubeConfig: KubeConfig, namespace: string, signal: AbortSignal): Promise<void> {
  const lease = { ...clusterApiLease, namespace };
  const holder = await findRival(kubeConfig, lease, signal).catch(({ message }: Error) => {
    signal.throwIfAborted();
    throw new FailureError(
      `cannot tell whether Cluster API's own controller is running: ${message}. Start again, or use --force`,
    );
  });
  if (holder !== undefined) {
    throw new FailureError(
      `Cluster API's own controller discovers extensions in this cluster: ${holder} holds the Lease ${lease.namespace}/${lease.name}. The two would overwrite each other's status: stop one of them, or use --force`,
    );
  }
}

export const command = defineCommand({
  description:
    "Reconciles ExtensionConfigs in a cluster without Cluster API's own controller: asks each extension for its handlers, and writes status and conditions.",
  flags: {
    ...clusterFlags,
    resolve: resolveFlag,
    'cert-dir': textFlag(
      'DIR',
      'folder with tls.crt and tls.key, the client certificate for extensions; reloaded on change',
    ),
    ...catalogFlags,
    'leader-elect': switchFlag('elect a leader through a Lease: only one of several replicas does the work'),
    'cluster-api-namespace': textFlag('NAMESPACE', "namespace of Cluster API's own controller, which must not run", {
      default: clusterApiLease.namespace as string,
      problemsOf: dns1123LabelProblems,
    }),
    force: switchFlag("do not check for Cluster API's own controller"),
    'health-port': serverFlags['health-port'],
    ...logFlags,
  },
  help: `
Exit code: 0 stopped, 1 Cluster API's own controller is running or a port is
taken, 2 usage error.`,
  async run({ flags, io }) {
    const kubeConfig = await orNoCluster(loadKubeConfig(flags, io.env));
    if (!flags.force) {
      await refuseRival(kubeConfig, flags['cluster-api-namespace'], io.signal);
    }
    using output = await openLog(io.stdout, flags);
    const { log, lostLines } = output;
    const metrics = new Registry();
    let controller: RunningController | undefined;
    let isStopping = false;
    const health = await started(
      startHealthServer({
        address: { host: undefined, port: flags['health-port'] },
        readiness() {
          const problem = isStopping ? 'shutting down' : controller?.problem;
          return { checks: [{ name: 'controller', problem, essential: true }], reason: problem };
        },
        metrics,
        log,
      }),
    );
    collectDefaultMetrics({ register: metrics });
    metricsIn(metrics, 'extensionconfig_controller_').counted('log_lines_lost_total', lostLogLinesHelp, lostLines);
    const clientCertificate = await followClientCertificate(flags['cert-dir'], log);
    controller = startController({
      kubeConfig,
      log,
      metrics,
      extensions: {
        resolve: resolveIn(new Map(flags.resolve)),
        clientCertificate: clientCertificate.current,
        release: flags['cluster-api-version'],
      },
      // Where the manifests allow it; all replicas have to agree on it.
      leaderElection: flags['leader-elect']
        ? { namespace: ownNamespace(), name: 'extensionconfig-webhook-controller' }
        : undefined,
    });
    log.info({ healthPort: health.port, version }, 'controller started');
    await untilStopped(io);
    isStopping = true;
    // Half of a pod's default grace period.
    await stopInTime(log, 15_000, async () => {
      await controller.stop();
      clientCertificate.stop();
      await health.stop();
      log.info('stopped');
    });
  },
});

import { type ChildProcess, spawn } from 'node:child_process';
import { eachOf, withoutControls } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import { textAt } from '../../kubernetes/index.ts';
import type { FlagValues } from '../framework/flags.ts';
import type { Io } from '../framework/program.ts';
import type { clusterFlags } from './cluster-flags.ts';
import { type Places, reachedAtAnnotation } from './resolve-flag.ts';

interface Service {
  namespace: string;
  name: string;
  port: number;
}

const hostOf = ({ namespace, name, port }: Service) => `${name}.${namespace}.svc:${port}`;

export function servicesOf(configs: readonly ExtensionConfig[]): Map<string, Service> {
  const services = new Map<string, Service>();
  for (const { spec } of configs) {
    const { name, namespace, port = 443 } = spec?.clientConfig?.service ?? {};
    if (name !== undefined && namespace !== undefined) {
      const service = { namespace, name, port };
      services.set(hostOf(service), service);
    }
  }
  return services;
}

/** Where the sandbox's extension listens: only on this machine, since anyone who may annotate a Service can name a place. */
async function annotatedPort({ namespace, name }: Service, cluster: KubernetesClient): Promise<number | undefined> {
  try {
    const service = await cluster.request('GET', `/api/v1/namespaces/${namespace}/services/${name}`);
    const [, port] =
      /^127\.0\.0\.1:(\d{1,5})$/.exec(textAt(service, 'metadata', 'annotations', reachedAtAnnotation)) ?? [];
    return port === undefined ? undefined : Number(port);
  } catch {
    // kubectl will say why the Service cannot be reached.
    return undefined;
  }
}

/** The local port of `kubectl port-forward`, or why it could not be started. */
function forward(child: ChildProcess, signal: AbortSignal): Promise<number | string> {
  return new Promise((end) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-4096);
      const [, port] = /Forwarding from 127\.0\.0\.1:(\d{1,5}) /.exec(output) ?? [];
      if (port !== undefined) {
        end(Number(port));
      }
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', ({ message }: Error) => end(message.includes('ENOENT') ? 'it is not on the PATH' : message));
    child.once('exit', () => end(output.trim().split('\n').at(-1) || 'it ended by itself'));
    AbortSignal.any([signal, AbortSignal.timeout(15_000)]).addEventListener('abort', () =>
      end(signal.aborted ? 'it was stopped' : 'it took more than 15 seconds'),
    );
  });
}

/**
 * Adds to `places` where Services can be reached from outside of their cluster: those of the sandbox at the address in their
 * annotation, others through `kubectl port-forward`, which a line on standard error says. In a pod all are called directly.
 */
export async function reachServices(
  configs: readonly ExtensionConfig[],
  places: Places,
  cluster: KubernetesClient,
  flags: FlagValues<typeof clusterFlags>,
  io: Io,
): Promise<Disposable> {
  const local = (port: number) => ({ host: '127.0.0.1', port });
  const children: ChildProcess[] = [];
  const close = () => {
    process.off('exit', close);
    for (const child of children) {
      child.kill();
    }
  };
  process.once('exit', close);
  const services = [...servicesOf(configs).values()].filter((service) => !places.has(hostOf(service)));
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST } = io.env;
  const isInCluster = KUBERNETES_SERVICE_HOST !== undefined && (flags.kubeconfig ?? KUBECONFIG) === undefined;
  const clusterArgs = (['kubeconfig', 'context'] as const).flatMap((flag) =>
    flags[flag] === undefined ? [] : [`--${flag}=${flags[flag]}`],
  );

  async function reach(service: Service): Promise<void> {
    const { namespace, name, port } = service;
    const annotated = await annotatedPort(service, cluster);
    if (annotated !== undefined) {
      places.set(hostOf(service), local(annotated));
      return;
    }
    if (io.signal.aborted || isInCluster) {
      return;
    }
    const args = ['port-forward', `--namespace=${namespace}`, '--address=127.0.0.1', `service/${name}`, `:${port}`];
    const child = spawn('kubectl', [...clusterArgs, ...args], {
      env: { PATH: process.env.PATH, ...io.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    const forwarded = await forward(child, io.signal);
    const where = `${namespace}/${name}:${port}`;
    if (typeof forwarded === 'number') {
      places.set(hostOf(service), local(forwarded));
      io.stderr.write(`${where} is called through kubectl port-forward (127.0.0.1:${forwarded})\n`);
    } else {
      child.kill();
      io.stderr.write(`${where} cannot be reached: kubectl port-forward failed: ${withoutControls(forwarded)}\n`);
    }
  }

  try {
    await eachOf(services, 10, reach);
    io.signal.throwIfAborted();
  } catch (error) {
    close();
    throw error;
  }
  return { [Symbol.dispose]: close };
}

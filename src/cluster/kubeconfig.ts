import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { FileError, readRegularFileSync } from '../files/index.ts';
import { printable } from '../terminal/index.ts';
import { clientNode } from './client-node.ts';

/** Largest kubeconfig, in bytes: one of 500 clusters with certificates in it has some 3 MiB. */
const maxKubeconfigBytes = 8 * 1024 * 1024;

/** A kubeconfig cannot be used. The message is one line without anything secret. */
export class KubeConfigError extends Error {}

function filesOf(named: string | undefined): string[] {
  if (named !== undefined) {
    return [named];
  }
  // Empty is not set, as for kubectl.
  return (process.env.KUBECONFIG || join(homedir(), '.kube', 'config')).split(delimiter);
}

/** The client would block forever on a FIFO, so the files are checked before it reads them. */
function checkFiles(named: string | undefined): void {
  const files = filesOf(named);
  for (const file of files.filter((path) => path !== '')) {
    try {
      readRegularFileSync(file, maxKubeconfigBytes);
    } catch (error) {
      // Of several files some may be missing, as for kubectl; the one that was named may not.
      if (!(error instanceof FileError && error.code === 'ENOENT' && named === undefined)) {
        throw new KubeConfigError(`the kubeconfig ${(error as Error).message}`);
      }
    }
  }
}

/** What the client takes where there is neither a kubeconfig nor a service account: nothing listens there today. */
const clientsFallback = { context: 'loaded-context', server: 'http://localhost:8080' };

/**
 * Reads a kubeconfig: the file named, else $KUBECONFIG, ~/.kube/config, or the pod's service account.
 *
 * @throws {KubeConfigError} when it cannot be read, or names no cluster or not this context.
 */
export function loadKubeConfig(options: { kubeconfig?: string | undefined; context?: string | undefined }): KubeConfig {
  checkFiles(options.kubeconfig);
  const config = new (clientNode().KubeConfig)();
  try {
    if (options.kubeconfig === undefined) {
      config.loadFromDefault();
    } else {
      config.loadFromFile(options.kubeconfig);
    }
  } catch (error) {
    // The lines after the first quote the file.
    const [problem = ''] = (error as Error).message.split('\n');
    const named = options.kubeconfig === undefined ? '' : ` ${options.kubeconfig}`;
    throw new KubeConfigError(`the kubeconfig${named} cannot be read: ${printable(problem)}`);
  }
  if (
    options.kubeconfig === undefined &&
    config.getCurrentContext() === clientsFallback.context &&
    config.getCurrentCluster()?.server === clientsFallback.server
  ) {
    throw new KubeConfigError(
      'KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod: give --kubeconfig FILE',
    );
  }
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new KubeConfigError(
        `context ${JSON.stringify(options.context)} is not in the kubeconfig (it has ${printable(known.join(', '))})`,
      );
    }
    config.setCurrentContext(options.context);
  }
  if (config.getCurrentCluster() === null) {
    throw new KubeConfigError('the kubeconfig names no cluster: give --kubeconfig and --context, or run in a pod');
  }
  return config;
}

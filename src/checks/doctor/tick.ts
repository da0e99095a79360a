import { Forbidden, type KubernetesClient, ResponseError, StatusError } from '../../kubernetes/client/index.ts';

/** The outcome of one look: all right, wrong now, wrong soon, not to be judged, or only worth knowing. */
export interface Tick {
  check: string;
  result: 'ok' | 'failed' | 'warning' | 'skipped' | 'note';
  message: string;
  remedy?: string;
}

export interface Installation {
  cluster: KubernetesClient;
  namespace: string;
  /** Name of the service, which the Deployment and the webhook configurations of the manifests have as well. */
  service: string;
  secret: string;
  caSecret: string;
  clusterApiNamespace: string;
  /** Whether the API server is the embedded one, in which nothing runs. */
  isSandbox: boolean;
  now: Date;
}

export const readable = 'let the user of the kubeconfig read it';

export const ok = (check: string, message: string): Tick => ({ check, result: 'ok', message });
export const skipped = (check: string, message: string): Tick => ({ check, result: 'skipped', message });
export const failed = (check: string, message: string, remedy: string): Tick => ({
  check,
  result: 'failed',
  message,
  remedy,
});

/** The ticks of a look; one that failed if the API server refuses to show something. @throws {ConnectionError} without an answer. */
export async function looking(check: string, look: () => Promise<Tick[]>): Promise<Tick[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof StatusError || error instanceof Forbidden || error instanceof ResponseError) {
      return [failed(check, error.message, readable)];
    }
    throw error;
  }
}

import { createHash } from 'node:crypto';
import type { UpdateMachineRequest, UpdateMachineResponse } from '../../../runtimehooks/index.ts';
import type { Answer } from '../handlers/answer.ts';
import type { HandlerContext } from '../handlers/handler.ts';

/** An update of a machine. */
export interface MachineUpdate {
  /** The same for the same machine and the same desired state: at most 63 lower-case letters, digits and hyphens. */
  key: string;
  desired: UpdateMachineRequest['desired'];
}

/** What a node says about an update. */
export type MachineUpdateState =
  /** Nobody has begun it. */
  | { state: 'none' }
  | { state: 'running' }
  /** Users read the message: a stable text without secrets. */
  | { state: 'failed'; message: string }
  | { state: 'done' };

/** How an extension updates machines. Its functions have the time of a call, at whose end the signal is aborted. */
export interface MachineUpdater {
  /** Asks the node, which is what remembers: the extension may have been restarted, or another replica may have begun. */
  look(update: MachineUpdate, signal: AbortSignal): Promise<MachineUpdateState>;
  /** Makes the node begin the work, which goes on without the extension. May be called again for the same key. */
  begin(update: MachineUpdate, signal: AbortSignal): Promise<void>;
  /**
   * The version of the kubelet as the Node reports it, such as v1.33.0; undefined while it is not known. Default: the
   * update is done when the node says so, for work that does not change the version.
   */
  kubeletVersion?(update: MachineUpdate, signal: AbortSignal): Promise<string | undefined>;
}

type UpdateMachineContext = HandlerContext<UpdateMachineResponse>;

const maxNameLength = 40;

const specsOf = ({ machine, infrastructureMachine, bootstrapConfig }: UpdateMachineRequest['desired']) =>
  [machine, infrastructureMachine, bootstrapConfig].map((object) => (object as { spec?: unknown })?.spec);

/** @param state what the update is about: with the same state, it has been done. */
function keyOf({ machine }: UpdateMachineRequest['desired'], state: readonly unknown[]): string {
  const { namespace, name = '' } = machine.metadata ?? {};
  const hash = createHash('sha256')
    .update(JSON.stringify([namespace, name, ...state]))
    .digest('hex')
    .slice(0, 16);
  return `${name.slice(0, maxNameLength).replaceAll(/[^a-z0-9-]/g, '-')}-${hash}`;
}

/**
 * Answers UpdateMachine by asking the node at each call: begins the work if nobody has, blocks while it runs, and is
 * done once the kubelet has the desired version. Work that failed is a Failure once, and begins anew.
 *
 * @param retryAfterSeconds after which Cluster API calls again.
 * @param state what the update is about: with the same state, it has been done. Default: the specs of all objects.
 */
export async function answerUpdate(
  { desired }: Pick<UpdateMachineRequest, 'desired'>,
  { answer, log, signal }: Pick<UpdateMachineContext, 'answer' | 'log' | 'signal'>,
  updater: MachineUpdater,
  retryAfterSeconds = 10,
  state: readonly unknown[] = specsOf(desired),
): Promise<Answer<UpdateMachineResponse>> {
  const update = { key: keyOf(desired, state), desired };
  const progress = await updater.look(update, signal);
  if (progress.state === 'none' || progress.state === 'failed') {
    log.info({ update: update.key }, 'update begins');
    await updater.begin(update, signal);
  }
  if (progress.state === 'failed') {
    return answer.fail(progress.message);
  }
  if (progress.state === 'none' || progress.state === 'running') {
    return answer.retry(retryAfterSeconds, 'the machine is being updated');
  }
  if (progress.state !== 'done') {
    // It may come from an agent: to wait for it would be forever.
    const state = JSON.stringify((progress as { state?: unknown }).state);
    throw new TypeError(`look returned the state ${state}: it must be none, running, failed or done`);
  }
  const { version } = desired.machine.spec;
  if (
    version === undefined ||
    updater.kubeletVersion === undefined ||
    version === (await updater.kubeletVersion(update, signal))
  ) {
    return answer.done();
  }
  return answer.retry(retryAfterSeconds, `the kubelet does not report ${version} yet`);
}

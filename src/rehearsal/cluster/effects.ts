import type { hooks } from '../../hooks/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';

/** A hook of Cluster API by its name. */
export type HookName = keyof typeof hooks;

/** How the call of one handler ended. `Ignored`: it failed, and failurePolicy `Ignore` swallowed that. `Error`: no answer. */
export interface HandlerCall {
  /** `HANDLER.EXTENSIONCONFIG`. */
  handler: string;
  status: 'Success' | 'Failure' | 'Error' | 'Ignored';
  message: string;
  retryAfterSeconds: number;
  /** Why it failed, in Cluster API's words; empty for a success. */
  error: string;
  /** Made up by a fault, not called. */
  isMadeUp: boolean;
}

/** A fault that hit a call. */
export interface FaultNote {
  text: string;
  when: 'before' | 'after';
}

/** What a life gets to know of a call. No handler at all is a success without calls. */
export type Outcome = { calls: readonly HandlerCall[]; faults?: readonly FaultNote[] } & (
  | { ok: true; response: JsonObject }
  | { ok: false; error: string }
  /** The controller ended before it could act on the answer. */
  | { ok: 'restart' }
);

/** A call that a life asks for: of one handler, or of all that are registered for the hook. */
export interface CallEffect {
  do: 'call';
  /** Milliseconds since the life began. */
  at: number;
  hook: HookName;
  request: JsonObject;
  /** The object that the hook is called for. */
  object: { namespace: string; name: string; uid: string };
  /** Absent: all handlers. */
  handler?: string;
  /** The annotation of the Cluster at that time. */
  pendingHooks: string;
}

/** What happens in a life beside calls. */
export type LifeEvent =
  /** `flag` is the same in a word or two, for a drawing. */
  | { kind: 'user'; text: string; flag: string }
  | { kind: 'condition'; status: 'True' | 'False'; reason: string; message: string }
  | { kind: 'control-plane'; state: 'creating' | 'upgrading' | 'ready' | 'gone'; version: string; name: string }
  | {
      kind: 'worker';
      state: 'creating' | 'upgrading' | 'ready' | 'gone';
      version: string;
      name: string;
      /** Name in the topology. */
      group: string;
    }
  | { kind: 'pending-hooks'; hooks: string }
  | { kind: 'plan'; controlPlane: readonly string[]; workers: readonly string[] }
  | { kind: 'templates'; changes: readonly TemplateChange[] }
  | { kind: 'fault'; text: string }
  | { kind: 'finding'; severity: 'error' | 'warning'; text: string; remedy: string };

/** A template as Cluster API has it, and as the patches leave it. */
export interface TemplateChange {
  /** Where it is used: `Cluster default/sample spec.controlPlaneRef`. */
  holder: string;
  /** `KIND NAME`. */
  template: string;
  before: JsonObject;
  after: JsonObject;
  /** Paths that patches changed and Cluster API does not take over. */
  ignored: readonly string[];
}

/** What a life asks its player for. */
export type Effect =
  | CallEffect
  | { do: 'tell'; at: number; event: LifeEvent }
  /** Time passes, up to `at`. */
  | { do: 'pass'; at: number; fromMs: number };

/** A part of a life: asks for effects and ends with a value. Only calls are answered. */
export type Life<T = void> = Generator<Effect, T, Outcome | undefined>;

/** How a life ended. */
export interface LifeEnd {
  isComplete: boolean;
  /** Why not. */
  reason: string;
  /** Milliseconds that it took. */
  at: number;
}

/** Thrown inside a life when a reconcile cannot go on. The message is what the condition says. */
export class ReconcileError extends Error {}

/** Thrown inside a life when it cannot be completed. */
export class LifeStopped extends Error {}

/** Thrown inside a life when the controller restarts. */
export class ControllerRestart extends Error {}

import type { JsonObject } from '../../../kubernetes/index.ts';
import type { HookDefinition, hooks, RequestOf, ResponseOf } from '../../../runtimehooks/index.ts';

/** Cluster API's hooks that a handler can serve. The server itself answers Discovery. */
export type HookName = Exclude<keyof typeof hooks, 'Discovery'>;

/** What Cluster API always sends of an object's metadata, though its schema does not require it. */
type Named<Object, Names extends string> = Object extends { metadata?: infer Metadata }
  ? Object & { metadata: Metadata & { readonly [Name in Names]: string } }
  : Object;

type Certain<Request> = Request extends { cluster: infer Cluster }
  ? Omit<Request, 'cluster'> & { cluster: Named<Cluster, 'name' | 'namespace' | 'uid'> }
  : Request extends { desired: { machine: infer Machine } }
    ? Omit<Request, 'desired'> & {
        desired: Omit<Request['desired'], 'machine'> & { machine: Named<Machine, 'name' | 'namespace'> };
      }
    : Request;

/** The request of a hook. */
export type RequestFor<H extends HookName> = Certain<RequestOf<(typeof hooks)[H]>>;
/** Fields of responses that a newer Cluster API reads than the one whose schemas are known; older ones drop them. */
interface NewestFields {
  /** Whether the update makes the Machine unavailable. Default: yes; where none may be missing, another one comes first. */
  affectsAvailability?: boolean;
}

/** The response of a hook. */
export type ResponseFor<H extends HookName> = ResponseOf<(typeof hooks)[H]> &
  (H extends 'CanUpdateMachine' | 'CanUpdateMachineSet' ? NewestFields : unknown);

declare const responseType: unique symbol;

/** The answer of a handler. Only the functions of `Answers` create one, so that none lacks its status. */
export interface Answer<Response> {
  readonly [responseType]: Response;
}

/** Lets optional fields be undefined, which JSON leaves out. */
export type OrUndefined<T> = {
  [Field in keyof T]: Record<never, never> extends Pick<T, Field> ? T[Field] | undefined : T[Field];
};

/** The fields of a response that a handler fills in: those that only its hook has, and the message. */
export type AnswerFields<Response> = OrUndefined<
  Omit<Response, 'apiVersion' | 'kind' | 'status' | 'retryAfterSeconds'>
>;

/** Answers that every hook has. */
export interface FinalAnswers<Response> {
  /** The work is done, or there was nothing to do: `Success`. */
  done: Record<never, never> extends AnswerFields<Response>
    ? (fields?: AnswerFields<Response>) => Answer<Response>
    : (fields: AnswerFields<Response>) => Answer<Response>;
  /** The work failed. Users read the message: no secrets, times or counters, since a changing text makes controllers loop. */
  fail(message: string): Answer<Response>;
}

/** Answers of hooks that can make Cluster API wait. */
export interface BlockingAnswers<Response> extends FinalAnswers<Response> {
  /**
   * The work is not done yet: Cluster API waits.
   *
   * @param seconds after which, and not earlier, it calls again: a whole number above 0, since 0 would count as done.
   * @param message what it waits for, as users read it: a stable text, as for `fail`.
   */
  retry(seconds: number, message: string): Answer<Response>;
}

/** The answers of a hook. A hook that cannot block has no `retry`. */
export type Answers<Response> = 'retryAfterSeconds' extends keyof Response
  ? BlockingAnswers<Response>
  : FinalAnswers<Response>;

class MadeAnswer {
  readonly response: JsonObject;
  constructor(response: JsonObject) {
    this.response = response;
  }
}

/** The response in what a handler returned; undefined when that is not an answer. */
export function responseIn(returned: unknown): JsonObject | undefined {
  return returned instanceof MadeAnswer ? returned.response : undefined;
}

const answerWith = (response: JsonObject) => new MadeAnswer(response) as unknown as Answer<unknown>;

/** What fails or blocks in another server's response would be a success in `done`. */
const filledIn = ['apiVersion', 'kind', 'status', 'retryAfterSeconds'] as const;

/** The functions that create the answers of a hook. */
export function answersOf(hook: HookDefinition): BlockingAnswers<unknown> {
  // Absent reads as 0, but the schema requires it, and Go's server always writes it.
  const goOn = hook.isBlocking ? { retryAfterSeconds: 0 } : {};
  return Object.freeze({
    done: (fields?: object) => {
      const field = filledIn.find((name) => Object.hasOwn(fields ?? {}, name));
      if (field !== undefined) {
        throw new TypeError(`answer.done takes no ${field}: leave it out, or answer with answer.fail or answer.retry`);
      }
      return answerWith({ ...goOn, ...(fields as JsonObject | undefined), status: 'Success' });
    },
    fail: (message: string) => {
      if (message === '') {
        throw new TypeError('answer.fail takes a message: users read it, and nothing else says why');
      }
      return answerWith({ ...goOn, status: 'Failure', message });
    },
    retry: (seconds: number, message: string) => {
      if (!Number.isInteger(seconds) || seconds < 1) {
        throw new RangeError(
          `answer.retry takes a whole number above 0, not ${seconds}: Cluster API takes 0 for done; use answer.done if it is`,
        );
      }
      return answerWith({ status: 'Success', message, retryAfterSeconds: seconds });
    },
  });
}

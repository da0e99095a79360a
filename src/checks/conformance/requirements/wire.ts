import { isJsonObject, type JsonObject } from '../../../kubernetes/index.ts';
import { describe, difference, isFailure, isSuccess } from '../outcome.ts';
import type { Check, CheckedHandler, ReportProblem, Trial } from '../trial.ts';
import { shownMessage } from './answers.ts';

/** Calls handlers with what `vary` makes of their request, if it applies, and compares the answers. */
const varied =
  (what: string, vary: (handler: CheckedHandler) => JsonObject | string | undefined) =>
  async ({ answering }: Trial, report: ReportProblem): Promise<string | undefined> => {
    let count = 0;
    for (const handler of await answering()) {
      const body = vary(handler);
      if (body === undefined) {
        continue;
      }
      count++;
      const before = await handler.second();
      const outcome = await handler.call({ body });
      if (before.error === undefined && (await handler.isAffectedBy(outcome))) {
        const how = outcome.error === undefined ? `: ${difference(before, outcome)}` : ` it ${describe(outcome)}`;
        report(`${what}${how}`, handler);
      }
    }
    return count === 0 ? 'it applies to none of the called handlers' : undefined;
  };

/** A request with fields that are in no release, both at the top level and in its objects. */
function withUnknownFields(request: JsonObject): JsonObject {
  const fields = { conformanceUnknownField: { a: [1, 'two', null] } };
  const known = Object.entries(request).map(([name, value]) =>
    isJsonObject(value) && isJsonObject(value.spec)
      ? [name, { ...value, ...fields, spec: { ...value.spec, ...fields } }]
      : [name, value],
  );
  return { ...Object.fromEntries(known), ...fields };
}

/** Size of the padding, in bytes: a ClusterClass with many templates comes to some MiB. */
const paddingBytes = 2 * 1024 * 1024;

const malformed: readonly { what: string; body: string }[] = [
  { what: 'an empty body', body: '' },
  { what: 'half an object', body: '{"apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","kind":' },
  { what: '20,000 open brackets', body: '['.repeat(20_000) },
];

/** The checks of Discovery, and of calls as any release of Cluster API sends them. */
export const wireChecks: readonly Check[] = [
  {
    id: 'discovery-valid',
    level: 'must',
    requirement: 'Discovery returns only handlers that Cluster API accepts.',
    reason: 'A single invalid handler makes Cluster API refuse the whole extension.',
    remedy:
      'if nothing answers, start the server (a Service outside of your cluster needs --resolve, unless its ExtensionConfig is read from the cluster); if handlers are invalid, correct them: "discover" explains each problem',
    async run({ discovered: { outcome, problems } }, report) {
      if (!isSuccess(outcome)) {
        const message = shownMessage(outcome);
        report(`Discovery ${describe(outcome)}${message === '' ? '' : `: ${message}`}`);
      }
      for (const { handler, message } of problems) {
        report(message, { name: handler });
      }
    },
  },
  {
    id: 'answers-calls',
    level: 'must',
    requirement:
      'Every handler answers the test request within its timeoutSeconds: HTTP 200, valid JSON of at most 2 MiB, the status Success.',
    reason: 'Anything else is a failed call: the reconcile fails and is retried, and Clusters wait.',
    remedy:
      'pass a request that the extension can process (--request FILE); answer failures with 200 too, with status Failure and a message; check the types of the fields; do long work in the background, and answer with retryAfterSeconds meanwhile',
    async run({ handlers }, report) {
      for (const handler of handlers) {
        const outcome = await handler.first();
        // That a server needs a Content-Type is reported by another check.
        if (outcome.error?.step === 'http' && (await handler.call({ withContentType: true })).response !== undefined) {
          continue;
        }
        if (!isSuccess(outcome)) {
          const message = shownMessage(outcome);
          const text = `${describe(outcome)}${message === '' ? '' : `: ${message}`}`;
          report(text, handler, isFailure(outcome) && isSuccess(await handler.second()));
        }
      }
      return handlers.length === 0 ? 'no handler is called' : undefined;
    },
  },
  {
    id: 'content-type',
    level: 'must',
    requirement: 'A call without a Content-Type gets the same answer as one with application/json.',
    reason: 'Cluster API sends no Content-Type: body parsers that expect one see an empty body or reject the request.',
    remedy: 'parse every body as JSON, whatever its type (in Express: express.json({ type: () => true }))',
    async run({ handlers, discovery, discovered: { outcome } }, report) {
      for (const handler of [discovery, ...handlers]) {
        const bare = await handler.second();
        if (bare.error !== undefined && bare.error.step !== 'http') {
          continue;
        }
        const typed = await handler.call({ withContentType: true });
        if (bare.error !== undefined && typed.error === undefined) {
          report(`without a Content-Type ${handler === discovery ? 'Discovery' : 'it'} ${describe(bare)}`, handler);
        } else if (bare.error === undefined && (await handler.isAffectedBy(typed))) {
          report(`with and without a Content-Type ${difference(bare, typed)}`, handler);
        }
      }
      return handlers.length === 0 && outcome.error !== undefined ? 'nothing answers' : undefined;
    },
  },
  {
    id: 'unknown-fields',
    level: 'must',
    requirement: 'A request with unknown fields gets the same answer.',
    reason: 'Releases of Cluster API add fields to requests and objects without a new version of the hook.',
    remedy: 'ignore unknown fields when decoding requests (no DisallowUnknownFields, no additionalProperties: false)',
    run: varied('with unknown fields', ({ request }) => withUnknownFields(request)),
  },
  {
    id: 'large-request',
    level: 'must',
    requirement: 'A request of 2 MiB gets the same answer as a small one.',
    reason:
      'GeneratePatches requests contain all templates of a class, up to 20 MiB; many frameworks refuse bodies over 100 KiB.',
    remedy: "raise the limit of the body parser to 20 MiB (in Express: express.json({ limit: '20mb' }))",
    run: varied(
      'given 2 MiB',
      // The padding is put into the text: writing it as JSON would take most of the time of the call.
      ({ request }) => `${JSON.stringify(request).slice(0, -1)},"conformancePadding":"${'x'.repeat(paddingBytes)}"}`,
    ),
  },
  {
    id: 'malformed-bodies',
    level: 'must',
    requirement: 'A body that is not a request gets a Failure or HTTP 4xx, in time.',
    reason: 'Anyone who can reach the port can send anything: it must not crash, block or mislead the server.',
    remedy: 'catch errors of the JSON parser and answer status Failure; keep a limit on size and depth',
    async run({ answering, discovered }, report) {
      if (discovered.outcome.error !== undefined) {
        return 'Discovery gave no answer';
      }
      for (const handler of await answering()) {
        for (const { what, body } of malformed) {
          const outcome = await handler.call({ body });
          const { step, code = 0 } = outcome.error ?? {};
          if (isSuccess(outcome) || (step !== undefined && !(step === 'http' && code >= 400 && code < 500))) {
            report(`given ${what} it ${describe(outcome)}`, handler);
          }
          if (step !== undefined && step !== 'http') {
            return undefined;
          }
        }
      }
      return undefined;
    },
  },
];

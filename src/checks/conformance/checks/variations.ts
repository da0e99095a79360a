import { isJsonObject, type JsonObject } from '../../../kubernetes/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import type { Check, ReportProblem, Skipped } from '../check.ts';
import { describe, difference, isSuccess, type Outcome } from '../outcome.ts';
import type { CheckedHandler, Trial } from '../trial.ts';

/**
 * Calls handlers with a variation of their request. One that answers the plain request otherwise is blamed for it only
 * after the plain request was sent again.
 *
 * @param vary returns the variation of a request, or its text; undefined for a handler that it does not apply to.
 * @param most maximum number of handlers to call.
 */
const varied =
  (what: string, vary: (handler: CheckedHandler) => JsonObject | string | undefined, most = Number.POSITIVE_INFINITY) =>
  async ({ answering }: Trial, report: ReportProblem): Promise<Skipped> => {
    let count = 0;
    for (const handler of await answering()) {
      const body = vary(handler);
      if (body === undefined || count === most) {
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
/** Maximum number of handlers that get a large request: a server usually has one limit for all. */
const maxLargeRequests = 4;

/** Bodies that are not requests. With `mustFail`, no decoder can accept the body. */
const malformed: readonly { what: string; body: string | Buffer; mustFail: boolean }[] = [
  { what: 'an empty body', body: '', mustFail: true },
  { what: 'a text', body: 'not json', mustFail: true },
  { what: 'half an object', body: '{"apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1","kind":', mustFail: true },
  { what: 'bytes', body: Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]), mustFail: true },
  { what: 'a list', body: '[]', mustFail: false },
  { what: 'null', body: 'null', mustFail: false },
  { what: '20,000 open brackets', body: '['.repeat(20_000), mustFail: true },
  {
    what: 'fields of wrong types',
    body: JSON.stringify({ cluster: 5, items: 'five', variables: { a: 1 }, current: [], desired: 0, settings: 'x' }),
    mustFail: false,
  },
];

function malformedProblem(what: string, mustFail: boolean, outcome: Outcome): string | undefined {
  const { step, code = 0 } = outcome.error ?? {};
  const isFine = step === undefined ? !(mustFail && isSuccess(outcome)) : step === 'http' && code >= 400 && code < 500;
  return isFine ? undefined : `given ${what} it ${describe(outcome)}`;
}

/** Number of timeouts after which malformed bodies are given up: with a server that hangs they would take hours. */
const maxHangs = 3;
/** The checks of requests as newer, older or no releases of Cluster API send them. */
export const variationChecks: readonly Check[] = [
  {
    id: 'unknown-fields',
    level: 'must',
    requirement: 'A request with unknown fields gets the same answer.',
    reason: 'Releases of Cluster API add fields to requests and objects without a new version of the hook.',
    remedy: 'ignore unknown fields when decoding requests (no DisallowUnknownFields, no additionalProperties: false)',
    run: varied('with unknown fields', ({ request }) => withUnknownFields(request)),
  },
  {
    id: 'cluster-without-type',
    level: 'must',
    requirement: 'A Cluster without apiVersion and kind gets the same answer.',
    reason: "Cluster API's controllers read Clusters from a cache, where both may be missing.",
    remedy: 'do not require apiVersion and kind of the Cluster: its type follows from the hook',
    run: varied('given a Cluster without apiVersion and kind', ({ request }) => {
      if (!isJsonObject(request.cluster)) {
        return undefined;
      }
      const { apiVersion: _a, kind: _k, ...cluster } = request.cluster;
      return { ...request, cluster };
    }),
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
      maxLargeRequests,
    ),
  },
  {
    id: 'malformed-bodies',
    level: 'must',
    requirement: 'A body that is not a request gets a Failure or HTTP 4xx, in time.',
    reason: 'Anyone who can reach the port can send anything: it must not crash, block or mislead the server.',
    remedy: 'catch errors of the JSON parser and answer status Failure; keep a limit on size and depth',
    needsDiscovery: true,
    async run({ answering, discovery }, report) {
      for (const { what, body } of malformed) {
        // Discovery does not depend on its request: it only has to respond.
        const message = malformedProblem(what, false, await discovery.call({ body }));
        if (message !== undefined) {
          report(message, { name: hooks.Discovery.name });
          break;
        }
      }
      let hung = 0;
      for (const handler of await answering()) {
        for (const { what, body, mustFail } of malformed) {
          const outcome = await handler.call({ body });
          const message = malformedProblem(what, mustFail, outcome);
          if (message !== undefined) {
            report(message, handler);
          }
          hung += outcome.error?.step === 'timeout' ? 1 : 0;
          if (hung >= maxHangs) {
            return;
          }
          if (outcome.error !== undefined && outcome.error.step !== 'http') {
            break;
          }
        }
      }
    },
  },
];

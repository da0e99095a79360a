import { reviewConversion } from '../../../src/extensionconfig/conversion/index.ts';
import { decodeAdmissionReview, parseJson, reviewOf } from '../../../src/kubernetes/index.ts';
import { createAdmission, createRuleSet } from '../../../src/policy/index.ts';
import { createHookCatalog, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import type { Shape } from './shapes.ts';

const admission = createAdmission({
  rules: createRuleSet({
    profile: 'strict',
    enforcement: 'deny',
    maxHandlerTimeoutSeconds: 10,
    hooks: createHookCatalog(),
    clusterApi: newestKnownRelease,
  }),
  isRuntimeSdkEnabled: true,
  now: () => new Date(),
});

/**
 * What the server does with a body, without HTTP: the text of its response. Bodies that are refused get a short one.
 */
export function decide(webhook: Shape['webhook'], body: Uint8Array): string {
  try {
    const json = parseJson(body);
    if (webhook === 'convert') {
      return JSON.stringify(reviewConversion(json));
    }
    const decoded = decodeAdmissionReview(json);
    return JSON.stringify('request' in decoded ? reviewOf(admission[webhook](decoded.request).response) : decoded);
  } catch (error) {
    return (error as Error).message;
  }
}

/** What a body costs. */
export interface Cost {
  bodyBytes: number;
  /** CPU time in ms of JSON.parse alone, the baseline, and of the whole decision: medians of the rounds. */
  parseMs: number;
  decisionMs: number;
  ratio: number;
  answerBytes: number;
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;

/**
 * CPU time of this thread in ms: on a busy machine, most of the wall time may be that of others. The kernel counts it in
 * ticks of some ms, so short work is repeated until it takes several of them.
 */
function timed(work: () => void): number {
  const start = process.threadCpuUsage();
  for (let times = 1; ; times++) {
    work();
    const { user, system } = process.threadCpuUsage(start);
    const usedMs = (user + system) / 1000;
    if (usedMs >= 40 || times === 100) {
      return usedMs / times;
    }
  }
}

interface Converted {
  request?: { objects?: readonly { metadata?: { annotations?: Record<string, unknown> } }[] };
}

/** Parses a body and, in a ConversionReview, the conversion data of its objects, which is JSON in a string. */
function parseAll(webhook: Shape['webhook'], text: string): void {
  try {
    const body = JSON.parse(text) as Converted;
    for (const { metadata } of (webhook === 'convert' && body.request?.objects) || []) {
      const data = metadata?.annotations?.['runtime.cluster.x-k8s.io/conversion-data'];
      if (typeof data === 'string' && data.length <= 256 * 1024) {
        JSON.parse(data);
      }
    }
  } catch {
    // Some bodies are malformed, which the decision finds out.
  }
}

/** CPU time in ms after which no further round is measured. */
const enoughMs = 5_000;

/**
 * Measures the decision on a body beside JSON.parse of it, in turn. One round is enough for most; a cost above that of
 * `doubtful` may come from code that was not compiled yet or a machine that changed its speed, so it is measured again.
 */
export function costOf(webhook: Shape['webhook'], body: Buffer, doubtful: { ratio: number; ms: number }): Cost {
  const text = body.toString();
  let answer = '';
  const parses: number[] = [];
  const decisions: number[] = [];
  const round = () => {
    parses.push(timed(() => parseAll(webhook, text)));
    decisions.push(
      timed(() => {
        answer = decide(webhook, body);
      }),
    );
  };
  // Some bodies are refused in less time than the clock can tell.
  const ratio = () => median(decisions) / Math.max(median(parses), 0.01);
  const isDoubtful = () => ratio() > doubtful.ratio || median(decisions) > doubtful.ms;
  let totalMs = 0;
  do {
    round();
    totalMs += decisions.at(-1) ?? 0;
  } while (decisions.length < 9 && totalMs < enoughMs && isDoubtful());
  return {
    bodyBytes: body.length,
    parseMs: median(parses),
    decisionMs: median(decisions),
    ratio: ratio(),
    answerBytes: Buffer.byteLength(answer),
  };
}

import { NotEvaluated } from '../../kubernetes/cel/index.ts';
import type { Problem } from './plan-document.ts';

/** Ends the plan of a part: thrown where it is met, and caught once, at the smallest part that it concerns. */
class PlanEnd extends Error {
  readonly remedy: string | undefined;
  /** `ClusterClass default/fleet`: set if the input or an extension's answer is at fault. */
  readonly object: string | undefined;

  constructor(text: string, { remedy, object }: Partial<Pick<PlanEnd, 'remedy' | 'object'>> = {}) {
    super(text);
    this.remedy = remedy;
    this.object = object;
  }

  get problem(): Problem {
    const { message: text, remedy, object } = this;
    return { text, ...(remedy !== undefined && { remedy }), ...(object !== undefined && { object }) };
  }
}

/**
 * Something that a plan needs and that cannot be looked at: an object that could not be read, an extension that is not
 * called, a template whose result is not computed here. The message says what is not known, and why.
 */
export class NotKnown extends PlanEnd {
  override readonly name = 'NotKnown';
  readonly is = 'unknown';
}

/** Cluster API takes a write, and then stops with a condition: its message is the condition's. */
export class Stopped extends PlanEnd {
  override readonly name = 'Stopped';
  readonly is = 'stopped';
}

/** What a check by rules of schemas finds. @throws {NotKnown} when a rule takes too long here, or may be too expensive. */
export function byRules<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof NotEvaluated
      ? new NotKnown(error.message, { remedy: 'ask the API server: kubectl apply --dry-run=server' })
      : error;
  }
}

/** The end of the plan of a part. @throws any other error. */
export function asEnd(error: unknown): NotKnown | Stopped {
  if (error instanceof NotKnown || error instanceof Stopped) {
    return error;
  }
  throw error;
}

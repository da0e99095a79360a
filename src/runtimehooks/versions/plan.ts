import type { Schema } from '../../kubernetes/schema/index.ts';

/** The action for one property. */
export type PropertyAction =
  /** Becomes a property of the object that its parent becomes. */
  | { do: 'set'; name: string; plan: ValuePlan | undefined; limits: Schema | undefined }
  /** Moves to another path, relative to the root or the list item. */
  | { do: 'move'; to: readonly string[]; plan: ValuePlan | undefined; limits: Schema | undefined }
  /** Is dropped, except for the nested fields that move elsewhere. */
  | { do: 'drop'; below: ReadonlyMap<string, PropertyAction> }
  /** Is left to the hand-written step. */
  | { do: 'skip' };

/** How to convert a value. Values without a plan, and properties without an action, are copied unchanged. */
export type ValuePlan =
  | { kind: 'object'; actions: ReadonlyMap<string, PropertyAction> }
  | { kind: 'list'; item: ValuePlan }
  | { kind: 'map'; value: ValuePlan };

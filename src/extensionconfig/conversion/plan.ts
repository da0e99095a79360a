import type { OpenApiSchema } from '../api/crd.ts';

/** The action for one property. */
export type PropertyAction =
  /** Becomes a property of the object that its parent becomes. */
  | { do: 'set'; name: string; plan: ValuePlan | undefined; limits: OpenApiSchema | undefined }
  /** Moves to another path, relative to the root or the list item. */
  | { do: 'move'; to: readonly string[]; plan: ValuePlan | undefined; limits: OpenApiSchema | undefined }
  /** Becomes conversion data, without the nested fields that move elsewhere. */
  | { do: 'keep'; below: ReadonlyMap<string, PropertyAction> }
  /** Is left to the hand-written step. */
  | { do: 'skip' };

/** How to convert a value. Values without a plan, and properties without an action, are copied unchanged. */
export type ValuePlan =
  | { kind: 'object'; actions: ReadonlyMap<string, PropertyAction> }
  | { kind: 'list'; item: ValuePlan; keys: readonly string[] }
  | { kind: 'map'; value: ValuePlan };

/** The automatic part of one direction. */
export interface ConversionPlan {
  root: ValuePlan | undefined;
  /**
   * The paths that conversion data may contain for the version to convert from, with the limits that their values
   * exceed.
   */
  kept: ReadonlyMap<string, OpenApiSchema | undefined>;
  /** The keys that identify the items of each list in the plan, by the path of the items. */
  listKeys: ReadonlyMap<string, readonly string[]>;
}

import type { Json } from '../../kubernetes/index.ts';

/** The type of a field, as in cluster-api-schemas.generated.json; types within it are numbers of the table. */
export interface FieldType {
  /** Its JSON type, or `integer or string`; nothing for any value. */
  is?: string;
  /** Whether fields are kept that the type does not name. */
  open?: boolean;
  /** The fields of an object. Names that end with `!` are required. */
  fields?: Record<string, number>;
  /** The items of a list, or the values of a map. */
  of?: number;
  /** The fields that identify an item of a list. */
  keys?: string[];
  /** Whether a list has no item twice. */
  unique?: boolean;
  /** Whether writers own an object as a whole, and not its fields. */
  whole?: boolean;
  /** Least and greatest number of items of a list, or of fields of an object. */
  size?: Limits;
  /** Least and greatest number of characters of a text. */
  length?: Limits;
  /** Least and greatest number. */
  range?: Limits;
  /** All values that are allowed. */
  values?: Json[];
  /** A regular expression that a text matches. */
  like?: string;
  format?: string;
  default?: Json;
  /** Rules, by their messages. */
  rules?: string[];
}

type Limits = [least: number | null, greatest?: number | null];

/** The fields of Cluster API's own kinds. */
export interface SchemaTable {
  /** By `GROUP/VERSION KIND`: the type of each release, `v1.13`, that differs from the one before. */
  kinds: Record<string, Record<string, number>>;
  types: FieldType[];
}

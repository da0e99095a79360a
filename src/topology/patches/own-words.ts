import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { watchReads } from '../templates/index.ts';

/** An inline patch that read the name of its Cluster at a template. */
export interface NameReading {
  variables: JsonObject;
  object: JsonObject;
  /** The fields that the patch may set there, as JSON pointers. */
  paths: readonly string[];
  outcomeWith: (variables: JsonObject) => string;
}

/** What inline patches read of the words in `builtin` that are a Cluster's own: its name, and what contains it or is its uid. */
export class OwnWordReads {
  readonly #name: string;
  readonly #uid: string;
  readonly #now = { name: false, other: false };
  /** Patches whose result depends on the name. */
  readonly readings: NameReading[] = [];
  /** Whether something was read that only the plan of the Cluster itself has. */
  hasMore = false;

  constructor(name: string, uid: string) {
    this.#name = name;
    this.#uid = uid;
  }

  #note(text: string): void {
    if (text === this.#name) {
      this.#now.name = true;
    } else if (text.includes(this.#name) || (text !== '' && text === this.#uid)) {
      this.#now.other = true;
    }
  }

  /** The same variables; from now on it is noted what templates read of them. */
  watched(variables: JsonObject): JsonObject {
    watchReads(variables, (text) => this.#note(text));
    return variables;
  }

  /** Notes the words in the value of a variable that is taken as it is. */
  noteValue(value: Json): void {
    if (typeof value === 'string') {
      this.#note(value);
    } else if (Array.isArray(value) || isJsonObject(value)) {
      for (const part of Object.values(value)) {
        this.noteValue(part);
      }
    }
  }

  endPatch(reading: NameReading): void {
    if (this.#now.name) {
      this.readings.push(reading);
    }
    this.hasMore ||= this.#now.other;
    Object.assign(this.#now, { name: false, other: false });
  }
}

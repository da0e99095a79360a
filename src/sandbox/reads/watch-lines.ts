import type { JsonObject, Status } from '../../kubernetes/index.ts';
import { apiVersionOf, metadataOf } from '../resources/index.ts';
import { type ReadContext, type ReadRequest, shown } from './reads.ts';

/** JSON of objects, serialized once for many watches. */
const texts = new WeakMap<JsonObject, string>();

function textOf(object: JsonObject): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Serializes the events of one watch. */
export interface WatchLines {
  /** An event as a line, with the object in the view that the client asked for. */
  event(type: string, object: JsonObject): string;
  bookmark(version: number, annotations?: JsonObject): string;
  error(status: Status): string;
}

/** The lines of a watch: in a table view, the first contains the columns. */
export function createWatchLines(context: ReadContext, { resource, view }: ReadRequest): WatchLines {
  let columns = true;
  return {
    event(type, object) {
      const { resourceVersion = '' } = metadataOf(object);
      const [view0] = shown(context, resource, [object], { resourceVersion }, view, columns);
      columns = false;
      const text = view.as === 'object' ? textOf(object) : JSON.stringify(view0);
      return `{"type":"${type}","object":${text}}\n`;
    },
    bookmark(version, annotations) {
      const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(version) };
      const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
      return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
    },
    error: (status) => `${JSON.stringify({ type: 'ERROR', object: status })}\n`,
  };
}

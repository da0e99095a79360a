import type { JsonObject, Status } from '../../kubernetes/index.ts';
import { apiVersionOf, metadataOf } from '../resources/resource.ts';
import { type ReadContext, type ReadRequest, shown } from './reads.ts';

/** Lines with objects, encoded once for many watches: one for each type of event. */
const lines = new WeakMap<JsonObject, Map<string, Buffer>>();

function lineOf(type: string, object: JsonObject): Buffer {
  let known = lines.get(object);
  if (known === undefined) {
    known = new Map();
    lines.set(object, known);
  }
  let line = known.get(type);
  if (line === undefined) {
    line = Buffer.from(eventLine(type, JSON.stringify(object)));
    known.set(type, line);
  }
  return line;
}

const eventLine = (type: string, text: string) => `{"type":"${type}","object":${text}}\n`;

/** Serializes the events of one watch. */
interface WatchLines {
  /** An event as a line, with the object in the view that the client asked for. */
  event(type: string, object: JsonObject): string | Buffer;
  bookmark(version: number, annotations?: JsonObject): string;
  error(status: Status): string;
}

/** The lines of a watch: in a table view, the first contains the columns. */
export function createWatchLines(context: ReadContext, { resource, view }: ReadRequest): WatchLines {
  let columns = true;
  return {
    event(type, object) {
      if (view.as === 'object') {
        return lineOf(type, object);
      }
      const { resourceVersion = '' } = metadataOf(object);
      const [view0] = shown(context, resource, [object], { resourceVersion }, view, columns);
      columns = false;
      return eventLine(type, JSON.stringify(view0));
    },
    bookmark(version, annotations) {
      const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(version) };
      const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
      return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
    },
    error: (status) => `${JSON.stringify({ type: 'ERROR', object: status })}\n`,
  };
}

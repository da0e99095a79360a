import { itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { KnownService } from './facts.ts';

/** The facts of a Service whose only port is 443; shared, since most Services are like that. */
const onlyHttps: KnownService = { ports: [443] };

export function readService(object: JsonObject): KnownService {
  const spec = objectAt(object, 'spec');
  if (spec.type === 'ExternalName') {
    return { ports: [] };
  }
  const ports = itemsAt(spec, 'ports').flatMap((item) => {
    const { port, protocol = 'TCP' } = objectAt(item);
    return typeof port === 'number' && protocol === 'TCP' ? [port] : [];
  });
  return ports.length === 1 && ports[0] === 443 ? onlyHttps : { ports };
}

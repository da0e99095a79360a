import { itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { KnownService } from './facts.ts';

export function readService(object: JsonObject): KnownService {
  const spec = objectAt(object, 'spec');
  if (spec.type === 'ExternalName') {
    return { ports: [] };
  }
  const ports = itemsAt(spec, 'ports').flatMap((item) => {
    const { port, protocol = 'TCP' } = objectAt(item);
    return typeof port === 'number' && protocol === 'TCP' ? [port] : [];
  });
  return { ports };
}

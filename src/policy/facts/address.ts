import { posix } from 'node:path';
import { type JsonObject, objectAt, parseRequestUri, textAt } from '../../kubernetes/index.ts';

function pathOf(path: string): string {
  return posix.join('/', path).replace(/\/$/, '');
}

function addressOfUrl(url: string): string | undefined {
  const uri = parseRequestUri(url);
  if ('problem' in uri || uri.scheme !== 'https' || !uri.host) {
    return undefined;
  }
  const { hostname = '', port = '' } = URL.parse(`https://${uri.host}`) ?? {};
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const host = name.replace(/\.svc\.cluster\.local$/, '.svc');
  return name === '' ? undefined : `${host}:${port || 443}${pathOf(uri.path.split('#', 1)[0] ?? '')}`;
}

/**
 * The address of an extension server in a canonical form, `HOST:PORT/PATH`, so that a server that is registered twice
 * is recognized: by Service or by URL, with or without a default port. Undefined without a valid address.
 */
export function serverAddress(clientConfig: JsonObject | undefined): string | undefined {
  const service = objectAt(clientConfig, 'service');
  const [name, namespace, path] = [textAt(service, 'name'), textAt(service, 'namespace'), textAt(service, 'path')];
  if (name !== '' && namespace !== '') {
    const { port } = service;
    return `${name}.${namespace}.svc:${typeof port === 'number' ? port : 443}${pathOf(path)}`;
  }
  return addressOfUrl(textAt(clientConfig, 'url'));
}

import { dns1123LabelProblems } from '../../kubernetes/index.ts';
import type { Resolve } from '../../runtimehooks/client/index.ts';
import { type Flag, FlagError } from '../framework/flags.ts';

/** The annotation on a Service of the sandbox that says where it can be reached: `127.0.0.1:PORT`. */
export const reachedAtAnnotation = 'extensionconfig-webhook/reached-at';

/** A Service, and the address to use instead. */
export interface Resolved {
  /** `NAME.NAMESPACE.svc:PORT`. */
  host: string;
  to: { host: string; port: number };
}

const port = (text: string) =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65535 ? Number(text) : 0;

export const resolveFlag: Flag<readonly Resolved[]> = {
  placeholder: 'NAMESPACE/NAME:PORT=HOST:PORT',
  summary: 'address at which a Service can be reached from here, for example a port-forward; may be repeated',
  default: [],
  repeatable: true,
  parse: (text) => {
    const [from = '', to = '', ...more] = text.split('=');
    const [namespace = '', service = ''] = from.split('/');
    const [name = '', fromPort = ''] = service.split(':');
    const colon = to.lastIndexOf(':');
    const host = to.slice(0, Math.max(colon, 0)).replace(/^\[(.*)\]$/, '$1');
    const isGood =
      more.length === 0 &&
      from.split('/').length === 2 &&
      dns1123LabelProblems(namespace).length === 0 &&
      dns1123LabelProblems(name).length === 0 &&
      port(fromPort) > 0 &&
      host !== '' &&
      port(to.slice(colon + 1)) > 0;
    if (!isGood) {
      throw new FlagError('it must be of the form capi-system/my-extension:443=localhost:8443');
    }
    return [{ host: `${name}.${namespace}.svc:${port(fromPort)}`, to: { host, port: port(to.slice(colon + 1)) } }];
  },
};

export function resolveOf(flags: readonly Resolved[]): Resolve {
  const places = new Map(flags.map(({ host, to }) => [host, to]));
  return (host) => places.get(/:\d+$/.test(host) ? host : `${host}:443`);
}

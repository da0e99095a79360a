import { dns1123LabelProblems } from '../../kubernetes/index.ts';
import type { Resolve } from '../../runtimehooks/client/index.ts';
import { type Flag, FlagError } from '../framework/flags.ts';

/** The annotation on a Service of the sandbox that says where it can be reached: `127.0.0.1:PORT`. */
export const reachedAtAnnotation = 'extensionconfig-webhook/reached-at';

/** `NAME.NAMESPACE.svc:PORT` of a Service, and the address to use instead. */
export type Resolved = readonly [host: string, to: { host: string; port: number }];

const isPort = (text: string) => Number(text) >= 1 && Number(text) <= 65535;

export const resolveFlag: Flag<readonly Resolved[]> = {
  placeholder: 'NAMESPACE/NAME:PORT=HOST:PORT',
  summary: 'address at which a Service can be reached from here, for example a port-forward; may be repeated',
  default: [],
  repeatable: true,
  parse: (text) => {
    const [, namespace = '', name = '', from = '', host = '', to = ''] =
      /^([^/:=]+)\/([^/:=]+):(\d{1,5})=([^=]+):(\d{1,5})$/.exec(text) ?? [];
    if ([namespace, name].flatMap(dns1123LabelProblems).length > 0 || !isPort(from) || !isPort(to)) {
      throw new FlagError('it must be of the form capi-system/my-extension:443=localhost:8443');
    }
    const address = host.replace(/^\[(.*)\]$/, '$1');
    return [[`${name}.${namespace}.svc:${Number(from)}`, { host: address, port: Number(to) }]];
  },
};

/** Where Services can be reached from here, by `NAME.NAMESPACE.svc:PORT`. */
export type Places = Map<string, Resolved[1]>;

export const resolveIn =
  (places: Places): Resolve =>
  (host) =>
    places.get(/:\d+$/.test(host) ? host : `${host}:443`);

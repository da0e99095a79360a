import { BlockList, isIP, isIPv6 } from 'node:net';

/** Schemes of proxies that the client library knows. */
const schemes = ['http:', 'https:', 'socks5:', 'socks5h:'];

/** The first variable that is set: as in Go, in capitals before small letters. */
function settingOf(env: NodeJS.ProcessEnv, name: string): { name: string; value: string } | undefined {
  for (const one of [name, name.toLowerCase()]) {
    const value = env[one];
    if (value !== undefined && value !== '') {
      return { name: one, value };
    }
  }
  return undefined;
}

function isIn(address: string, network: string): boolean {
  const [base = '', length = ''] = network.split('/', 2);
  const family = isIPv6(base) ? 'ipv6' : 'ipv4';
  if (
    isIP(address) === 0 ||
    isIP(base) === 0 ||
    !/^\d{1,3}$/.test(length) ||
    Number(length) > (family === 'ipv6' ? 128 : 32)
  ) {
    return false;
  }
  const list = new BlockList();
  list.addSubnet(base, Number(length), family);
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Splits HOST:PORT or [HOST]:PORT; the port may be missing. */
function split(entry: string): { host: string; port: string } {
  const colon = entry.lastIndexOf(':');
  const hasPort = colon !== -1 && (entry.indexOf(':') === colon || entry[colon - 1] === ']');
  const host = hasPort ? entry.slice(0, colon) : entry;
  return { host: host.replace(/[[\]]/g, ''), port: hasPort ? entry.slice(colon + 1) : '' };
}

/** Whether an entry of NO_PROXY is about a server: an address, a network, a domain with those below it, or `*`. */
function excludes(entry: string, host: string, port: string): boolean {
  if (entry === '*') {
    return true;
  }
  if (entry.includes('/')) {
    return isIn(host, entry);
  }
  const excluded = split(entry);
  if (excluded.host === '' || (excluded.port !== '' && excluded.port !== port)) {
    return false;
  }
  if (isIP(excluded.host) !== 0) {
    return isIn(host, `${excluded.host}/${isIPv6(excluded.host) ? 128 : 32}`);
  }
  const domain = excluded.host.replace(/^\*\./, '.');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

/**
 * Checks the URL of a proxy.
 *
 * @param name of the field or variable.
 * @throws {Error} that does not contain the URL: it may have a password.
 */
export function checkProxy(name: string, value: string): void {
  try {
    const url = new URL(value);
    if (schemes.includes(url.protocol)) {
      // Decoded by the client library, too.
      decodeURIComponent(`${url.username}:${url.password}`);
      return;
    }
  } catch {
    // Reported below.
  }
  throw new Error(`${name} is not the URL of a proxy, such as http://proxy.example.com:3128`);
}

/**
 * The proxy for a server according to HTTPS_PROXY (HTTP_PROXY for one without TLS) and NO_PROXY, or undefined. As in
 * kubectl, this machine is never reached through a proxy.
 *
 * @see https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
 * @throws {Error} when the variable is not the URL of a proxy. The message does not contain it: it may have a password.
 */
export function proxyFor(server: string, env: NodeJS.ProcessEnv): string | undefined {
  const url = URL.parse(server);
  if (url === null) {
    return undefined;
  }
  const proxy = settingOf(env, url.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY');
  if (proxy === undefined) {
    return undefined;
  }
  const host = url.hostname.replace(/[[\]]/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'http:' ? '80' : '443');
  if (host === 'localhost' || isIn(host, '127.0.0.0/8') || isIn(host, '::1/128')) {
    return undefined;
  }
  const entries = settingOf(env, 'NO_PROXY')?.value.split(',');
  if (entries?.some((entry) => excludes(entry.trim().toLowerCase(), host, port))) {
    return undefined;
  }
  const text = proxy.value.includes('://') ? proxy.value : `http://${proxy.value}`;
  checkProxy(proxy.name, text);
  return text;
}

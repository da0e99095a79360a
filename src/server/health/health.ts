import type { RequestListener } from 'node:http';
import type { Log } from '../../base/index.ts';
import { refusal } from '../../kubernetes/index.ts';
import type { Metrics } from './metrics.ts';
import { describeChecks, type Readiness } from './readiness.ts';

interface Answer {
  code: number;
  type: string;
  text: string;
}

const plain = (code: number, text: string): Answer => ({ code, type: 'text/plain; charset=utf-8', text });
const refused = (code: number, message: string): Answer => ({
  code,
  type: 'application/json; charset=utf-8',
  text: JSON.stringify(refusal(code, message)),
});

/**
 * What the health port answers, in plain HTTP: `/healthz` and `/livez` (200 while the process can respond at all),
 * `/readyz` (200 or 503 with the reason; with `?verbose` one line per check) and `/metrics` (Prometheus' text format).
 */
export function createHealthApplication(
  readiness: () => Readiness,
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  log: Log,
): RequestListener {
  async function answerTo(path: string, isVerbose: boolean): Promise<Answer> {
    switch (path) {
      case '/healthz':
      case '/livez':
        return plain(200, 'ok\n');
      case '/readyz': {
        const state = readiness();
        const short = state.ready ? 'ok\n' : `${state.reason}\n`;
        return plain(state.ready ? 200 : 503, isVerbose ? describeChecks(state, 'readyz') : short);
      }
      case '/metrics':
        return { code: 200, type: metrics.contentType, text: await metrics.render() };
      default:
        return refused(404, 'no such path; the paths are /healthz, /livez, /readyz and /metrics');
    }
  }

  return async ({ method, url }, response) => {
    const [path, query] = (url as string).split('?', 2) as [string, string?];
    // Only reads, of paths that they can have.
    const readPath = method === 'GET' || method === 'HEAD' ? path : '';
    const { code, type, text } = await answerTo(readPath, new URLSearchParams(query).has('verbose')).catch((error) => {
      log.error({ err: error }, 'the health port failed to respond');
      return refused(500, 'internal error; see the log');
    });
    response.writeHead(code, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      // The kubelet opens a connection for each probe, and a scrape can afford one: no idle connection stays open.
      connection: 'close',
    });
    response.end(text);
  };
}

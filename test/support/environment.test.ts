import { expect, test } from 'vitest';
import { withoutDisturbances } from './environment.ts';

test('removes variables that affect the programs started by tests, and nothing else', () => {
  const kept = { PATH: '/bin', HOME: '/root', TZ: 'Asia/Kolkata', LC_ALL: 'C', E2E_KUBECONFIG: '/k', MY_DEBUG: '1' };
  const env = {
    ...kept,
    HTTP_PROXY: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
    NODE_ENV: 'production',
    NODE_OPTIONS: '--trace-warnings',
    FORCE_COLOR: '1',
    KUBECONFIG: '/nowhere',
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    EXTENSIONCONFIG_LOG_LEVEL: 'debug',
    npm_config_omit: 'dev',
  };
  withoutDisturbances(env);
  expect(env).toEqual(kept);
});

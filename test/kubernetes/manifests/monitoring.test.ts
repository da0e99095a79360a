import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { allMetrics } from '../../../tools/generate/program-report.ts';
import { needs } from '../../support/needs.ts';
import { buildOverlay, find, manifestsFolder } from './kustomization.ts';

interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

const objects = buildOverlay('monitoring');
const withController = buildOverlay('controller-discover');
const alerts = find(objects, 'PrometheusRule').spec.groups.flatMap(
  ({ rules }: { rules: AlertRule[] }) => rules,
) as AlertRule[];
const dashboard = JSON.parse(readFileSync(join(manifestsFolder, 'components/monitoring/dashboard.json'), 'utf8')) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
};

/** Metrics of other sources: Prometheus itself, the API servers, kube-state-metrics. */
const foreign = new Set([
  'up',
  'apiserver_admission_webhook_rejection_count',
  'kube_job_created',
  'kube_job_failed',
  'kube_job_complete',
  'kube_deployment_status_replicas_available',
]);

/** Names of metrics in a PromQL expression: what is left without functions, labels and strings. */
function metricsIn(expression: string): string[] {
  const words = expression
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\b(by|on|without|ignoring) \([^)]*\)/g, '')
    .replaceAll(/\[[^\]]*\]/g, '');
  return [...words.matchAll(/[a-z_][a-z0-9_]*(?![a-z0-9_]*\s*\()/g)]
    .map(([word]) => word)
    .filter((word) => !['and', 'or', 'unless', 'sum', 'max', 'min', 'count'].includes(word));
}

/** Names that the program exports, and those that a histogram adds to its own. */
async function exported(): Promise<Set<string>> {
  const { server, controller } = allMetrics();
  const text = `${await server.metrics()}\n${await controller.metrics()}`;
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [String(name)],
    ),
  );
}

const expressions: [string, string][] = [
  ...alerts.map(({ alert, expr }): [string, string] => [`alert ${alert}`, expr]),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }): [string, string] => [`panel ${title}`, expr]),
  ),
];

const known = await exported();

test.each(expressions)('%s queries only existing metrics', (_name, expression) => {
  const names = metricsIn(expression);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !known.has(name) && !foreign.has(name))).toEqual([]);
});

test('the check can fail', () => {
  expect(metricsIn('sum by (le) (rate(no_such_metric_total{a="b"}[5m])) > 0.5 * 100')).toEqual([
    'no_such_metric_total',
  ]);
});

test('every alert has a severity, a summary and a description', () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { alert, labels, annotations } of alerts) {
    expect(alert).toMatch(/^ExtensionConfigWebhook[A-Z]\w+$/);
    expect(['warning', 'critical']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    expect(annotations.description).toMatch(/\.$/);
  }
});

test("the alert about failed Jobs compares them with the newest one that succeeded, of the manifests' Jobs", () => {
  const { expr } = alerts.find(({ alert }) => alert.endsWith('CertificateJobFails'))!;
  expect(expr).toMatch(
    /^max by \(job_name\) \(.+ kube_job_failed\{.+\} == 1\) > scalar\(max\(.+\} == 1\) or vector\(0\)\)$/,
  );
  const patterns = [...expr.matchAll(/\bjob_name=~"([^"]*)"/g)].map(([, pattern]) => new RegExp(`^(?:${pattern})$`));
  expect(patterns).toHaveLength(2);
  for (const kind of ['Job', 'CronJob']) {
    const [job] = objects.filter((object) => object.kind === kind);
    // A CronJob adds the time to the name of its Jobs.
    const name = `${job!.metadata.name}${kind === 'CronJob' ? '-29400000' : ''}`;
    expect(patterns.map((pattern) => pattern.test(name))).toEqual([true, true]);
  }
});

test('Prometheus finds the pods: ServiceMonitor, Service, port and policy match', () => {
  const monitor = find(objects, 'ServiceMonitor').spec;
  const jobs: string[] = [];
  for (const name of ['extensionconfig-webhook', 'extensionconfig-webhook-controller']) {
    const service = find(objects, 'Service', `${name}-metrics`);
    jobs.push(service.metadata.name);
    expect(service.metadata.labels).toMatchObject(monitor.selector.matchLabels);
    expect(service.spec.ports[0].name).toBe(monitor.endpoints[0].port);
    const { template, selector } = find(withController, 'Deployment', name).spec;
    expect(service.spec.selector).toEqual(selector.matchLabels);
    const policy = find(objects, 'NetworkPolicy', `${name}-metrics`).spec;
    expect(policy.podSelector).toEqual(selector);
    expect(policy.ingress[0].ports[0].port).toBe(service.spec.ports[0].targetPort);
    const [{ ports }] = template.spec.containers;
    expect(ports).toContainEqual({
      name: service.spec.ports[0].targetPort,
      containerPort: service.spec.ports[0].port,
      protocol: 'TCP',
    });
  }
  expect(find(objects, 'Service').metadata.labels).not.toMatchObject(monitor.selector.matchLabels);
  for (const [name, expression] of expressions) {
    for (const [, job] of expression.matchAll(/\bjob="([^"]*)"/g)) {
      expect(jobs, name).toContain(job);
    }
  }
});

test('the alert of each name has its place in docs/operations.md', () => {
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  for (const { alert, annotations } of alerts) {
    const name = alert.slice('ExtensionConfigWebhook'.length);
    expect(annotations.runbook_url).toBe(`docs/operations.md#${name.toLowerCase()}`);
    expect(page).toContain(`<a id="${name.toLowerCase()}"></a>\`${name}\``);
  }
});

/** Series, each with its values minute by minute as promtool writes them. */
type Series = Record<string, string>;
const own = 'extensionconfig_webhook_';
const job = 'kube_job_created{namespace="extensionconfig-webhook-system", job_name="rotate-now"}';
/** A counter that a pod exports from its start, and whose first event comes after ten minutes, then one a minute. */
const begins = '0x10 0+1x110';
const day = 86_400;

/** For each alert, what makes it fire within two hours, and what does not. Time starts at 1970. */
const situations: Record<string, { fires: Series; silent: Series }> = {
  Down: {
    fires: { 'up{job="extensionconfig-webhook-metrics"}': '0x120' },
    silent: { 'up{job="extensionconfig-webhook-metrics"}': '1x120' },
  },
  NotRedundant: {
    fires: {
      'up{job="extensionconfig-webhook-metrics", pod="a"}': '1x120',
      'up{job="extensionconfig-webhook-metrics", pod="b"}': '0x120',
    },
    silent: {
      'up{job="extensionconfig-webhook-metrics", pod="a"}': '1x120',
      'up{job="extensionconfig-webhook-metrics", pod="b"}': '1x120',
    },
  },
  CallsFail: {
    fires: {
      'apiserver_admission_webhook_rejection_count{name="mutate.extensionconfig-webhook.runtime.cluster.x-k8s.io", error_type="calling_webhook_error"}':
        '1+1x120',
    },
    silent: {
      'apiserver_admission_webhook_rejection_count{name="mutate.other.example.com", error_type="calling_webhook_error"}':
        '1+1x120',
    },
  },
  CertificateExpiresSoon: {
    fires: { [`${own}certificate_not_after_timestamp_seconds`]: `${13 * day}x120` },
    silent: { [`${own}certificate_not_after_timestamp_seconds`]: `${15 * day}x120` },
  },
  CertificateExpiresNow: {
    fires: { [`${own}certificate_not_after_timestamp_seconds`]: `${day}x120` },
    silent: { [`${own}certificate_not_after_timestamp_seconds`]: `${3 * day}x120` },
  },
  CertificateRefused: {
    fires: { [`${own}certificate_reloads_total{result="failure"}`]: '0x115 1x5' },
    silent: { [`${own}certificate_reloads_total{result="failure"}`]: '1x120' },
  },
  CertificateNotTrusted: {
    fires: { [`${own}certificate_rejections_total`]: '0x115 1x5' },
    silent: { [`${own}certificate_rejections_total`]: '1x120' },
  },
  HandshakesFail: {
    fires: { [`${own}tls_handshake_failures_total`]: '0+10x120' },
    silent: { [`${own}tls_handshake_failures_total`]: '0+1x120' },
  },
  ManyDenials: {
    fires: { [`${own}reviews_total{verdict="denied"}`]: '0+10x120' },
    silent: { [`${own}reviews_total{verdict="denied"}`]: '0+1x120' },
  },
  Errors: {
    fires: { [`${own}reviews_total{verdict="malformed"}`]: '0x120', [`${own}http_refusals_total{code="400"}`]: begins },
    silent: {
      [`${own}reviews_total{verdict="malformed"}`]: '0x120',
      [`${own}http_refusals_total{code="400"}`]: '0x60 5x60',
    },
  },
  Slow: {
    fires: {
      [`${own}request_duration_seconds_bucket{webhook="validate", le="1"}`]: '0+1x120',
      [`${own}request_duration_seconds_bucket{webhook="validate", le="+Inf"}`]: '0+2x120',
      [`${own}request_duration_seconds_bucket{webhook="validate", le="2.5"}`]: '0+2x120',
    },
    silent: {
      [`${own}request_duration_seconds_bucket{webhook="validate", le="1"}`]: '0+2x120',
      [`${own}request_duration_seconds_bucket{webhook="validate", le="+Inf"}`]: '0+2x120',
    },
  },
  ConnectionsDropped: {
    fires: {
      [`${own}connections_dropped_total{port="webhook"}`]: '0x120',
      [`${own}connections_evicted_total{port="webhook"}`]: begins,
    },
    silent: {
      [`${own}connections_dropped_total{port="webhook"}`]: '0x120',
      [`${own}connections_evicted_total{port="webhook"}`]: '7x120',
    },
  },
  Overloaded: {
    fires: {
      [`${own}http_refusals_total{code="503"}`]: begins,
      [`${own}answers_dropped_total{port="webhook"}`]: '0x120',
    },
    silent: {
      [`${own}http_refusals_total{code="503"}`]: '0x120',
      [`${own}answers_dropped_total{port="webhook"}`]: '0x120',
    },
  },
  FactsMissing: {
    fires: { [`${own}facts_known{kind="Cluster"}`]: '0x120' },
    silent: { [`${own}facts_known{kind="Cluster"}`]: '0x10 1x110' },
  },
  ImpactUndecided: {
    fires: { [`${own}impact_reviews_total{result="undecided"}`]: begins },
    silent: { [`${own}impact_reviews_total{result="undecided"}`]: '3x120' },
  },
  ConversionsFail: {
    fires: { [`${own}conversions_total{result="failure"}`]: begins },
    silent: { [`${own}conversions_total{result="failure"}`]: '3x120' },
  },
  CertificateSourceFails: {
    fires: { [`${own}certificate_source_up`]: '0x120' },
    silent: { [`${own}certificate_source_up`]: '1x120' },
  },
  CertificateJobFails: {
    fires: { [job]: '400x120', [job.replace('created', 'failed').replace('}', ', condition="true"}')]: '1x120' },
    silent: { [job]: '400x120', [job.replace('created', 'complete').replace('}', ', condition="true"}')]: '1x120' },
  },
  ControllerDown: {
    fires: {
      'kube_deployment_status_replicas_available{namespace="extensionconfig-webhook-system", deployment="extensionconfig-webhook-controller"}':
        '0x120',
    },
    silent: {
      'kube_deployment_status_replicas_available{namespace="extensionconfig-webhook-system", deployment="extensionconfig-webhook-controller"}':
        '1x120',
    },
  },
  ControllerNotLeading: {
    fires: { 'extensionconfig_controller_leader{pod="a"}': '0x120' },
    silent: {
      'extensionconfig_controller_leader{pod="a"}': '0x120',
      'extensionconfig_controller_leader{pod="b"}': '1x120',
    },
  },
  ControllerBehind: {
    fires: { extensionconfig_controller_api_server_silent_seconds: '200x120' },
    silent: { extensionconfig_controller_api_server_silent_seconds: '30x120' },
  },
  ExtensionNotDiscovered: {
    fires: { 'extensionconfig_discovered{extensionconfig="x"}': '0x120' },
    silent: { 'extensionconfig_discovered{extensionconfig="x"}': '1x120' },
  },
  HookVersionNotSupported: {
    fires: { 'extensionconfig_handlers{group="g", version="v1", hook="H", state="removed"}': '1x120' },
    silent: { 'extensionconfig_handlers{group="g", version="v1", hook="H", state="supported"}': '1x120' },
  },
  CABundleExpiresSoon: {
    fires: { 'extensionconfig_ca_bundle_not_after_timestamp_seconds{extensionconfig="x"}': `${day}x120` },
    silent: { 'extensionconfig_ca_bundle_not_after_timestamp_seconds{extensionconfig="x"}': `${30 * day}x120` },
  },
};

test('each alert is tried', () => {
  expect(Object.keys(situations).map((name) => `ExtensionConfigWebhook${name}`)).toEqual(
    alerts.map(({ alert }) => alert),
  );
});

test(
  'Prometheus accepts the rules; each alert fires when it is to, and only then, and that of a failed Job until a later one succeeds',
  needs('promtool'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // JSON is YAML.
    writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(find(objects, 'PrometheusRule').spec));
    copyFileSync(new URL('job-alert.promtool.yaml', import.meta.url), join(folder, 'job-alert.yaml'));
    // Many alerts at once, since promtool makes a database for each test; two of them contradict others about the same series.
    const isApart = ([name]: [string, unknown]) => ['Down', 'CertificateExpiresNow'].includes(name);
    const all = Object.entries(situations);
    const tests = [all.filter(isApart), all.filter((one) => !isApart(one))].flatMap((some) =>
      (['fires', 'silent'] as const).map((state) => ({
        name: state,
        interval: '1m',
        input_series: some.flatMap(([, series]) =>
          Object.entries(series[state]).map(([one, values]) => ({ series: one, values })),
        ),
        promql_expr_test: some.map(([name]) => ({
          expr: `count(ALERTS{alertname="ExtensionConfigWebhook${name}", alertstate="firing"})`,
          eval_time: '116m',
          exp_samples: state === 'fires' ? [{ labels: '{}', value: 1 }] : [],
        })),
      })),
    );
    writeFileSync(
      join(folder, 'alerts.yaml'),
      JSON.stringify({ rule_files: ['rules.yaml'], evaluation_interval: '4m', tests }),
    );
    const args = ['test', 'rules', 'alerts.yaml', 'job-alert.yaml'];
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8', timeout: 60_000 });
    expect(status, `${stdout}${stderr}`).toBe(0);
  },
);

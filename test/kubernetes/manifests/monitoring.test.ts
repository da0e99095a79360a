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
  annotations: { summary: string; description: string };
}

const objects = buildOverlay('monitoring');
const withController = buildOverlay('controller-observe');
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

test('Prometheus accepts the rules, and a failed Job alerts until a later one succeeds', needs('promtool'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // JSON is YAML.
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(find(objects, 'PrometheusRule').spec));
  copyFileSync(new URL('job-alert.promtool.yaml', import.meta.url), join(folder, 'job-alert.yaml'));
  for (const args of [
    ['check', 'rules', 'rules.yaml'],
    ['test', 'rules', 'job-alert.yaml'],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8', timeout: 30_000 });
    expect(status, `${stdout}${stderr}`).toBe(0);
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

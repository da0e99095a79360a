// The topology mutation of Cluster API's own test extension (in Go: test/extension, release 1.14), for the kinds of kubeadm
// in v1beta1 and v1beta2 and of the Docker provider. With types of these kinds (`template-types`), paths need not be strings.
import { handler } from 'cluster-api-extension';
import {
  type BuiltinVariables,
  defineVariables,
  getField,
  setArguments,
  setField,
  type Template,
  walkTemplates,
} from 'cluster-api-extension/topology';

const variables = defineVariables({
  kubeadmControlPlaneMaxSurge: { schema: { type: 'string', default: '', example: '0' } },
  files: {
    schema: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, content: { type: 'string' }, contentFormat: { type: 'string' } },
      },
    },
  },
  preKubeadmCommands: { schema: { type: 'array', items: { type: 'string' } } },
  kubeadmConfigTemplateAnnotations: { schema: { type: 'object', additionalProperties: { type: 'string' } } },
  imageRepository: { required: true, schema: { type: 'string', example: 'kindest' } },
});

/** Appends to a list that may be missing. */
function append(template: Template, path: string, items: readonly object[] | readonly string[] = []) {
  if (items.length > 0) {
    setField(template, path, [...((getField(template, path) as object[] | undefined) ?? []), ...items]);
  }
}

const filesOf = (files: readonly object[] = []) =>
  files.map((file) => ({ ...file, owner: 'root:root', permissions: '0600' }));

const mark = (template: Template, metadata: string) => {
  setField(template, `${metadata}.labels["top-level-label-1"]`, 'top-level-label-value-1');
  setField(template, `${metadata}.annotations["top-level-annotation-1"]`, 'top-level-annotation-value-1');
};

const imageOf = ({ controlPlane, machineDeployment, machinePool }: BuiltinVariables) =>
  `kindest/node:${(controlPlane ?? machineDeployment ?? machinePool)?.version}`;

export const generatePatches = handler('GeneratePatches', {
  name: 'generate-patches',
  handle: (request, { answer, log }) => {
    const items = walkTemplates(
      request,
      [
        {
          match: { kind: 'DevClusterTemplate' },
          mutate(template, { values }) {
            mark(template, 'spec.template.metadata');
            setField(
              template,
              'spec.template.spec.backend.docker.loadBalancer.imageRepository',
              values.imageRepository,
            );
          },
        },
        {
          match: { kind: 'KubeadmControlPlaneTemplate' },
          mutate(template, { values, builtin, log }) {
            mark(template, 'spec.template.metadata');
            const config = 'spec.template.spec.kubeadmConfigSpec';
            for (const component of ['apiServer', 'controllerManager', 'scheduler']) {
              setArguments(template, `${config}.clusterConfiguration.${component}.extraArgs`, { v: '2' });
            }
            const version = `${builtin.controlPlane?.version}`.replaceAll('+', '_');
            for (const phase of ['initConfiguration', 'joinConfiguration']) {
              setArguments(template, `${config}.${phase}.nodeRegistration.kubeletExtraArgs`, {
                v: '2',
                'node-labels': `kubernetesVersion=${version}`,
              });
            }
            const { kubeadmControlPlaneMaxSurge: surge } = values;
            if (surge !== '') {
              log.info({ surge }, 'maxSurge set');
              const maxSurge = /^\d+$/.test(surge) ? Number(surge) : surge;
              const isOld = template.apiVersion.endsWith('/v1beta1');
              const strategy = `spec.template.spec.${isOld ? 'rolloutStrategy' : 'rollout.strategy'}`;
              setField(template, `${strategy}.type`, 'RollingUpdate');
              setField(template, `${strategy}.rollingUpdate.maxSurge`, maxSurge);
            }
            append(template, `${config}.files`, filesOf(values.files));
            append(template, `${config}.preKubeadmCommands`, values.preKubeadmCommands);
          },
        },
        {
          match: { kind: 'KubeadmConfigTemplate' },
          mutate(template, { values }) {
            mark(template, 'metadata');
            const config = 'spec.template.spec';
            setArguments(template, `${config}.joinConfiguration.nodeRegistration.kubeletExtraArgs`, { v: '2' });
            append(template, `${config}.files`, filesOf(values.files));
            append(template, `${config}.preKubeadmCommands`, values.preKubeadmCommands);
            template.metadata.annotations = {
              ...template.metadata.annotations,
              ...values.kubeadmConfigTemplateAnnotations,
            };
          },
        },
        {
          match: { kind: 'DevMachineTemplate' },
          mutate(template, { builtin }) {
            mark(template, 'metadata');
            setField(template, 'spec.template.spec.backend.docker.customImage', imageOf(builtin));
          },
        },
        {
          match: { kind: 'DevMachinePoolTemplate' },
          mutate(template, { builtin }) {
            mark(template, 'spec.template.metadata');
            setField(template, 'spec.template.spec.backend.docker.customImage', imageOf(builtin));
          },
        },
      ],
      { variables, unmatched: 'fail', log },
    );
    return answer.done({ items });
  },
});

export const validateTopology = handler('ValidateTopology', {
  name: 'validate-topology',
  handle: (_, { answer }) => answer.done(),
});

export const discoverVariables = handler('DiscoverVariables', {
  name: 'discover-variables',
  handle: (_, { answer }) => answer.done({ variables: variables.definitions }),
});

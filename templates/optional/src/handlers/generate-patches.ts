import { handler } from 'cluster-api-extension';
import { setField, walkTemplates } from 'cluster-api-extension/topology';
import { variables } from '../variables.ts';

/** {{summary}} */
export const generatePatches = handler('GeneratePatches', {
  name: 'generate-patches',
  handle: async (request, { answer, log }) => {
    const items = walkTemplates(
      request,
      [
        {
          // match: { kind: 'DockerMachineTemplate', holder: { kind: 'MachineDeployment' } },
          mutate(template, { values: { tier } }) {
            // Infrastructure, bootstrap and control plane objects get the labels below spec.template.
            if (tier !== undefined) {
              setField(template, 'spec.template.metadata.labels["example.com/tier"]', tier);
            }
          },
        },
      ],
      { variables, log },
    );
    return answer.done({ items });
  },
});

import { createJobs } from 'cluster-api-extension';

const { KUBERNETES_SERVICE_HOST, POD_NAMESPACE = 'default' } = process.env;

/** Jobs in the extension's namespace: add the component api-server in manifests/kustomization.yaml. */
export const jobs = createJobs(
  KUBERNETES_SERVICE_HOST === undefined
    ? // Outside of a cluster, as with `npm run dev` and `npm test`, this does the work, or pretends to.
      { retryAfterSeconds: 2, run: async () => {} }
    : {
        namespace: POD_NAMESPACE,
        retryAfterSeconds: 30,
        template: {
          backoffLimit: 3,
          activeDeadlineSeconds: 3600,
          template: {
            spec: {
              restartPolicy: 'Never',
              securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
              containers: [
                {
                  name: 'work',
                  image: 'registry.example.com/work:0.1.0',
                  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
                },
              ],
            },
          },
        },
      },
);

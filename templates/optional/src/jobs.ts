import { createKubernetesJobs } from 'cluster-api-extension';

/** Runs work as Jobs in the extension's namespace: add the component api-server in manifests/kustomization.yaml. */
export const jobs = createKubernetesJobs({
  namespace: process.env.POD_NAMESPACE ?? 'default',
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
});

// Generated from manifests/crd by `npm run generate`. Do not edit.

/**
 * ExtensionConfig registers one Runtime Extension server with Cluster API.
 */
export interface ExtensionConfig {
  /**
   * Version of the API this object is written in, as GROUP/VERSION.
   */
  apiVersion: string;
  /**
   * Kind of the object, always ExtensionConfig.
   */
  kind: string;
  /**
   * metav1.ObjectMeta, as far as this program reads it.
   */
  metadata: {
    name?: string;
    generateName?: string;
    annotations?: {
      [k: string]: string;
    };
    labels?: {
      [k: string]: string;
    };
    deletionTimestamp?: string;
  };
  /**
   * What the administrator asks for.
   */
  spec?: {
    /**
     * How Cluster API reaches the extension server. Exactly one of url and service must be set.
     */
    clientConfig?: {
      /**
       * Address of the extension server as https://HOST[:PORT][/PATH], for servers outside the cluster.
       */
      url?: string;
      /**
       * Kubernetes Service of an extension server that runs in this cluster.
       */
      service?: {
        /**
         * Namespace of the Service.
         */
        namespace?: string;
        /**
         * Name of the Service.
         */
        name?: string;
        /**
         * Path prefix that is put in front of every hook's own path. Starts with a slash.
         */
        path?: string;
        /**
         * Port of the Service, 1 to 65535. Defaults to 443.
         */
        port?: number;
      };
      /**
       * Base64 of the PEM certificates that verify the extension server's certificate.
       */
      caBundle?: string;
    };
    /**
     * Selects, by the labels of its namespace, the clusters the extension is called for. Defaults to all.
     */
    namespaceSelector?: {
      /**
       * Labels that must all be present with exactly these values.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Requirements that must all hold.
       *
       * Items: One requirement on one label key.
       */
      matchExpressions?: {
        /**
         * Label key the requirement is about.
         */
        key?: string;
        /**
         * Relation of the key to the values, one of In, NotIn, Exists and DoesNotExist.
         */
        operator?: string;
        /**
         * Values for In and NotIn; must be empty for Exists and DoesNotExist.
         */
        values?: string[];
      }[];
    };
    /**
     * Settings that are sent with every call to the extension server. They are stored and sent in clear.
     */
    settings?: {
      [k: string]: string;
    };
  };
  /**
   * What Cluster API has found out about the extension server.
   */
  status?: {
    /**
     * What is known about the extension server. Known types are Discovered and Paused.
     *
     * Items: One condition, in the form of metav1.Condition.
     */
    conditions?: {
      /**
       * Type of the condition, in CamelCase.
       */
      type?: string;
      /**
       * Status of the condition, one of True, False and Unknown.
       */
      status?: string;
      /**
       * Generation of the object that the condition was computed from.
       */
      observedGeneration?: number;
      /**
       * When the condition's status last changed.
       */
      lastTransitionTime?: string;
      /**
       * Reason of the last change, in CamelCase.
       */
      reason?: string;
      /**
       * Details of the last change, for people.
       */
      message?: string;
    }[];
    /**
     * Handlers that the extension server offered when it was discovered.
     *
     * Items: One handler of the extension server.
     */
    handlers?: {
      /**
       * Unique name of the handler, HANDLER.EXTENSIONCONFIG-NAME.
       */
      name?: string;
      /**
       * The hook, in one version, that the handler serves.
       */
      requestHook?: {
        /**
         * Group and version of the hook, as GROUP/VERSION.
         */
        apiVersion?: string;
        /**
         * Name of the hook.
         */
        hook?: string;
      };
      /**
       * Seconds after which Cluster API gives up a call, at least 1. Defaults to 10.
       */
      timeoutSeconds?: number;
      /**
       * What an error of the handler means to Cluster API, Ignore or Fail. Defaults to Fail.
       */
      failurePolicy?: string;
    }[];
    /**
     * What older contracts say in their status and v1beta2 has no other place for.
     */
    deprecated?: {
      /**
       * What the v1beta1 contract says.
       */
      v1beta1?: {
        /**
         * Conditions in the form that Cluster API's v1beta1 contract gave them.
         *
         * Items: One condition in the v1beta1 form.
         */
        conditions?: {
          /**
           * Type of the condition, in CamelCase.
           */
          type?: string;
          /**
           * Status of the condition, one of True, False and Unknown.
           */
          status?: string;
          /**
           * How bad a condition that is False is, one of Error, Warning, Info and empty.
           */
          severity?: string;
          /**
           * When the condition's status last changed.
           */
          lastTransitionTime?: string;
          /**
           * Reason of the last change, in CamelCase.
           */
          reason?: string;
          /**
           * Details of the last change, for people.
           */
          message?: string;
        }[];
      };
    };
  };
}

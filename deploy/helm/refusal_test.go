package helm_test

import (
	"strings"
	"testing"
)

// What contradicts itself is refused when the chart is rendered, with what to do about it.
func TestValuesThatCannotWorkAreRefusedWithWhatToDo(t *testing.T) {
	const secret = "existingSecret: s\n"
	for name, c := range map[string]struct {
		base, values string
		says         []string
	}{
		"no secret at all": {
			"", "{}",
			[]string{
				"existingSecret is empty: make a Secret with the keys database-url, audit.key, http-token", "openssl genpkey -algorithm ed25519 -out audit.key",
				"kubectl create secret generic analyze-retry --namespace claims --from-file=database-url --from-file=audit.key --from-file=http-token", "store.type=sqlite and replicas=1",
			},
		},
		"all secrets that are needed are named": {
			"", "events: {enabled: true}\nzeebe: {oauth: {clientId: c, authorizationServerUrl: https://a, audience: a}}",
			[]string{"the keys database-url, audit.key, events-url, http-token, zeebe-client-secret"},
		},
		"the password of Basic is named": {"", "zeebe: {basic: {username: u}}", []string{"the keys database-url, audit.key, http-token, zeebe-basic-password"}},
		"SQLite without the token":       {"", "replicas: 1\nstore: {type: sqlite}", []string{"the keys http-token and"}},
		"several replicas on SQLite":     {"sqlite", "replicas: 2", []string{"replicas is 2 with store.type=sqlite", "set replicas=1, or store.type=postgres"}},
		"migrating SQLite":               {"sqlite", "migrate: {existingSecret: owner}", []string{"migrate.existingSecret with store.type=sqlite"}},
		"a report on SQLite":             {"sqlite", "report: {enabled: true}", []string{"report.enabled with store.type=sqlite", "kubectl --namespace claims exec deploy/billing-analyze-retry -- /worker report"}},
		"a claim with PostgreSQL":        {"minimal", "store: {sqlite: {existingClaim: c}}", []string{"store.sqlite.existingClaim has no effect"}},
		"a name in place of a text":      {"minimal", "worker: {policies: policies.yaml}", []string{"worker.policies is not the text of a YAML file", "--set-file worker.policies=policies.yaml", "worker policies lint"}},
		"policies that are no YAML":      {"minimal", "worker: {policies: \"policies:\\n  - name: a\\n   maxRetries: 3\"}", []string{"worker.policies is not the text of a YAML file (error converting YAML to JSON: yaml: line 2"}},
		"a text without policies":        {"minimal", "worker: {policies: 'policy: {name: a}'}", []string{"worker.policies holds no policies"}},
		"policies that are no list":      {"minimal", "worker: {policies: 'policies: {name: a}'}", []string{"worker.policies holds no policies"}},
		"an empty list of policies":      {"minimal", "worker: {policies: 'policies: []'}", []string{"worker.policies holds no policies"}},
		"a list of names":                {"minimal", "worker: {policies: 'policies: [tiss]'}", []string{"worker.policies holds no policies"}},
		"neither token nor TLS":          {"minimal", "http: {token: false}", []string{"http.token is false and http.tls.existingSecret is empty"}},
		"plaintext with a CA":            {"minimal", "zeebe: {address: 'grpc://g:1', caSecret: ca}", []string{"zeebe.address grpc://g:1 is plaintext, which has no use for certificates"}},
		"plaintext with a certificate":   {"minimal", "zeebe: {address: 'http://g', clientCertificateSecret: c}", []string{"zeebe.address http://g is plaintext, which has no use for certificates"}},
		"OAuth over plaintext":           {"saas", "zeebe: {address: 'grpc://g:1'}", []string{"zeebe.address grpc://g:1 would send the token in plaintext", "zeebe.allowInsecureToken=true"}},
		"Basic over plaintext":           {"camunda-basic", "zeebe: {allowInsecureToken: false}", []string{"would send the password in plaintext", "zeebe.allowInsecureToken=true"}},
		"a token endpoint without TLS":   {"saas", "zeebe: {oauth: {authorizationServerUrl: 'http://keycloak'}}", []string{"would send the client secret in plaintext"}},
		"Basic and OAuth":                {"saas", "zeebe: {basic: {username: u}}", []string{"zeebe.basic and zeebe.oauth are both set"}},
		"a password in plain text":       {"minimal", "extraEnv: [{name: CAMUNDA_BASIC_AUTH_PASSWORD, value: x}]", []string{"extraEnv: CAMUNDA_BASIC_AUTH_PASSWORD is secret: put it into existingSecret"}},
		"OAuth without an audience":      {"saas", "zeebe: {oauth: {audience: ''}}", []string{"zeebe.oauth.audience is empty"}},
		"OAuth without a client id":      {"saas", "zeebe: {oauth: {clientId: ''}}", []string{"zeebe.oauth.clientId is empty"}},
		"OAuth with a scope only":        {"minimal", "zeebe: {oauth: {scope: s}}", []string{"zeebe.oauth.clientId is empty", "zeebe.oauth.authorizationServerUrl is empty", "zeebe.oauth.audience is empty"}},
		"two monitors":                   {"minimal", "metrics: {podMonitor: {enabled: true}, serviceMonitor: {enabled: true}}\nnetworkPolicy: {enabled: false}", []string{"scraped twice"}},
		"a monitor that is shut out":     {"minimal", "metrics: {podMonitor: {enabled: true}}", []string{"networkPolicy.metricsFrom is empty, so Prometheus cannot scrape"}},
		"a monitor that knows no name":   {"tls", "http: {tls: {serverName: ''}}", []string{"http.tls.serverName is empty"}},
		"a secret in plain text":         {"minimal", "extraEnv: [{name: RETRY_DATABASE_URL, value: x}]", []string{"extraEnv: RETRY_DATABASE_URL is secret: put it into existingSecret"}},
		"a variable of the chart's":      {"minimal", "extraEnv: [{name: ZEEBE_ADDRESS, value: x}]", []string{"extraEnv: ZEEBE_ADDRESS is set by the chart"}},
		"a label of the selector":        {"minimal", "podLabels: {app.kubernetes.io/name: x}", []string{"podLabels: app.kubernetes.io/name is set by the chart"}},
		"several faults":                 {"", secret + "http: {token: false}\nmetrics: {podMonitor: {enabled: true}, serviceMonitor: {enabled: true}}\nnetworkPolicy: {enabled: false}", []string{"\n- http.token is false", "scraped twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := render(load(t), values(t, c.base, c.values))
			if err == nil {
				t.Fatal("it is rendered")
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the refusal does not say %q:\n%v", text, err)
				}
			}
		})
	}
}

// The schema is strict: what it does not know is a slip of the pen, and would leave a default in place without a word.
func TestValuesOutOfRangeAreRefusedByTheSchema(t *testing.T) {
	for text, at := range map[string]string{
		"replica: 2":                            "additional properties 'replica'",
		"replicas: 0":                           "/replicas",
		"replicas: '2'":                         "/replicas",
		"image: {pullPolicy: always}":           "/image/pullPolicy",
		"image: {digest: 'sha256:12'}":          "/image/digest",
		"image: {repository: 'a:latest'}":       "/image/repository",
		"store: {type: mysql}":                  "/store/type",
		"store: {postgres: {url: x}}":           "additional properties 'postgres'",
		"store: {sqlite: {size: 1}}":            "/store/sqlite/size",
		"worker: {jobTypes: []}":                "/worker/jobTypes",
		"worker: {jobTypes: [{type: a}]}":       "missing property 'policy'",
		"worker: {maxJobsActive: 1001}":         "/worker/maxJobsActive",
		"worker: {jobTimeoutSeconds: 0}":        "/worker/jobTimeoutSeconds",
		"worker: {shutdownTimeoutSeconds: 601}": "/worker/shutdownTimeoutSeconds",
		"worker: {auditRetention: 5 years}":     "/worker/auditRetention",
		"worker: {logLevel: trace}":             "/worker/logLevel",
		"worker: {clusterName: ''}":             "/worker/clusterName",
		"worker: {jobTypes: [{type: record-retry-outcome, policy: tiss}]}": "/worker/jobTypes/0/type",
		"zeebe: {address: 'gateway:26500'}":                                "/zeebe/address",
		"zeebe: {address: 'grpc://gateway'}":                               "/zeebe/address",
		"zeebe: {address: 'https://u:p@gateway'}":                          "/zeebe/address",
		"zeebe: {allowInsecureToken: 'true'}":                              "/zeebe/allowInsecureToken",
		"zeebe: {basic: {password: x}}":                                    "additional properties 'password'",
		"zeebe: {basic: {username: 'u:p'}}":                                "/zeebe/basic/username",
		"zeebe: {tenant: 'a b'}":                                           "/zeebe/tenant",
		"zeebe: {oauth: {clientSecret: x}}":                                "additional properties 'clientSecret'",
		"zeebe: {oauth: {authorizationServerUrl: 'ldap://keycloak'}}":      "/zeebe/oauth/authorizationServerUrl",
		"zeebe: {oauth: {authorizationServerUrl: 'https://u:p@keycloak'}}": "/zeebe/oauth/authorizationServerUrl",
		"http: {port: 80}":                                                 "/http/port",
		"http: {token: secret}":                                            "/http/token",
		"resources: {limits: {memory: 100M}}":                              "/resources/limits/memory",
		"livenessProbe: {periodSeconds: 0}":                                "/livenessProbe/periodSeconds",
		"metrics: {podMonitor: {interval: 30}}":                            "/metrics/podMonitor/interval",
		"networkPolicy: {databasePorts: []}":                               "/networkPolicy/databasePorts",
		"networkPolicy: {eventsPorts: [70000]}":                            "/networkPolicy/eventsPorts/0",
		"extraEnv: [{name: A}]":                                            "/extraEnv/0",
		"existingSecret: Not A Name":                                       "/existingSecret",
		"podLabels: {a: 1}":                                                "/podLabels/a",
		"report: {schedule: monthly}":                                      "/report/schedule",
		"report: {language: pt}":                                           "/report/language",
		"report: {format: pdf}":                                            "/report/format",
		"report: {timeZone: '-03:00'}":                                     "/report/timeZone",
		"migrate: {activeDeadlineSeconds: 5}":                              "/migrate/activeDeadlineSeconds",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := render(load(t), values(t, "minimal", text))
			if err == nil {
				t.Fatal("it is rendered")
			}
			if !strings.Contains(err.Error(), "don't meet the specifications of the schema") || !strings.Contains(err.Error(), at) {
				t.Errorf("the refusal does not say where (%s):\n%v", at, err)
			}
		})
	}
}

// Command testplugin is a real credential plugin (KEP-541) for tests. It does what the
// files in the directory $PLUGIN_DIR say, so that a test can change its mind between
// two runs without changing the recipe:
//
//	token       token to print; %n becomes the number of the run, counted from 1
//	cert, key   client certificate and key to print
//	ttl         duration until the expirationTimestamp, may be negative
//	apiversion  apiVersion to print; default: the one of KUBERNETES_EXEC_INFO
//	stdout      text to print in place of an ExecCredential
//	stderr      text to print on standard error
//	flood       number of bytes to print on standard output first
//	sleep       duration to wait before answering
//	sleepfor    sleep and child only if KUBERNETES_EXEC_INFO contains this text
//	child       duration that a child sleeps, which inherits standard output
//	exit        exit status
//
// Each run appends a line of JSON to the file log, and one more when it answers.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// record is a line of the log.
type record struct {
	Event string    `json:"event"` // start, child, end
	Time  time.Time `json:"time"`
	PID   int       `json:"pid"`
	PGID  int       `json:"pgid"`
	Argv  []string  `json:"argv,omitempty"`
	Env   []string  `json:"env,omitempty"`
	Info  string    `json:"info,omitempty"`
}

const (
	execInfo  = "KUBERNETES_EXEC_INFO"
	childRole = "PLUGIN_CHILD_SLEEP"
)

func main() {
	if d := os.Getenv(childRole); d != "" {
		log(record{Event: "child"})
		pause(d)
		return
	}
	log(record{Event: "start", Argv: os.Args, Env: os.Environ(), Info: os.Getenv(execInfo)})
	if strings.Contains(os.Getenv(execInfo), option("sleepfor")) {
		if d := option("child"); d != "" {
			startChild(d)
		}
		pause(option("sleep"))
	}
	if n, err := strconv.Atoi(option("flood")); err == nil {
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("x"), n))
	}
	fmt.Fprint(os.Stderr, option("stderr"))
	answer := option("stdout")
	if answer == "" {
		answer = credential()
	}
	fmt.Print(answer)
	log(record{Event: "end"})
	if status, err := strconv.Atoi(option("exit")); err == nil {
		os.Exit(status)
	}
}

func option(name string) string {
	data, err := os.ReadFile(filepath.Join(os.Getenv("PLUGIN_DIR"), name))
	if err != nil {
		return ""
	}
	return string(data)
}

func pause(d string) {
	if wait, err := time.ParseDuration(d); err == nil {
		time.Sleep(wait)
	}
}

func startChild(d string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+d)
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for !strings.Contains(option("log"), `"child"`) { // it shall be seen in the log
		time.Sleep(time.Millisecond)
	}
}

func log(r record) {
	r.Time, r.PID = time.Now(), os.Getpid()
	r.PGID, _ = syscall.Getpgid(r.PID)
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(os.Getenv("PLUGIN_DIR"), "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

func credential() string {
	status := map[string]any{}
	for file, field := range map[string]string{"cert": "clientCertificateData", "key": "clientKeyData"} {
		if v := option(file); v != "" {
			status[field] = v
		}
	}
	if token := option("token"); token != "" {
		if strings.Contains(token, "%n") {
			run := strings.Count(option("log"), `"event":"start"`)
			token = strings.ReplaceAll(token, "%n", strconv.Itoa(run))
		}
		status["token"] = token
	}
	if ttl, err := time.ParseDuration(option("ttl")); err == nil {
		status["expirationTimestamp"] = time.Now().Add(ttl).UTC().Format(time.RFC3339)
	}
	answer, err := json.Marshal(map[string]any{
		"kind": "ExecCredential", "apiVersion": apiVersion(), "status": status,
	})
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

func apiVersion() string {
	if v := option("apiversion"); v != "" {
		return v
	}
	var info struct {
		APIVersion string `json:"apiVersion"`
	}
	_ = json.Unmarshal([]byte(os.Getenv(execInfo)), &info)
	return info.APIVersion
}

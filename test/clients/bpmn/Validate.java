import io.camunda.zeebe.model.bpmn.Bpmn;
import io.camunda.zeebe.model.bpmn.BpmnModelInstance;
import io.camunda.zeebe.model.bpmn.traversal.ModelWalker;
import io.camunda.zeebe.model.bpmn.validation.ValidationVisitor;
import io.camunda.zeebe.model.bpmn.validation.zeebe.ZeebeDesignTimeValidators;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.StringJoiner;
import org.camunda.bpm.model.xml.ModelException;
import org.camunda.bpm.model.xml.ModelParseException;
import org.camunda.bpm.model.xml.validation.ValidationResults;

/**
 * Validates models with Camunda's library. It reads paths and writes a line for each: what is wrong, nothing if the model
 * is accepted. What the XML schema of BPMN refuses begins with "schema: ".
 */
public final class Validate {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String path = in.readLine(); path != null; path = in.readLine()) {
      out.println(faults(Path.of(path)).replaceAll("\\s+", " "));
    }
    out.flush();
  }

  private static String faults(Path path) throws Exception {
    BpmnModelInstance model;
    try (InputStream file = Files.newInputStream(path)) {
      model = Bpmn.readModelFromStream(file);
    } catch (ModelParseException e) {
      return "schema: " + e.getCause().getMessage();
    }
    ValidationVisitor visitor = new ValidationVisitor(ZeebeDesignTimeValidators.VALIDATORS);
    try {
      new ModelWalker(model).walk(visitor);
    } catch (ModelException e) { // a reference to nothing
      return e.getMessage();
    }
    ValidationResults results = visitor.getValidationResult();
    StringJoiner all = new StringJoiner("; ");
    results.getResults().forEach((element, faults) -> faults.forEach(
        fault -> all.add(element.getAttributeValue("id") + ": " + fault.getMessage())));
    return all.toString();
  }
}
